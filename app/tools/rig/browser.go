package rig

import "os/exec"

// browsers are what the programs are called that people look at pages with.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "chrome"}

// windowless are what tests look at pages with, the first that is here. The Makefile has
// the same names.
var windowless = append([]string{"chromium-headless-shell"}, browsers...)

// FindBrowser returns the path of a browser as people have it, "" where there is none.
func FindBrowser() string { return findProgram(browsers...) }

// FindWindowless returns the path of a browser without a window, which nobody would look
// at: it shows the same pages with half of the work. Where there is none it is any other.
func FindWindowless() string { return findProgram(windowless...) }

// findProgram returns the path of the first of programs that is here.
func findProgram(names ...string) string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
