//go:build !race

package api

// crowded is how many rows a test of many makes at an instant: more
// than fit on two pages.
const crowded = 250
