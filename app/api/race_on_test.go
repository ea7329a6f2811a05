//go:build race

package api

// crowded is how many rows a test of many makes at an instant. Under the race
// detector SQLite is twenty times slower, and fewer rows race as well.
const crowded = 100
