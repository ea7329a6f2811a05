//go:build !race

package api

// crowded is how many rows a test of many makes at an instant.
const crowded = 1000
