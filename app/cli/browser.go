package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
)

// openBrowser opens a page in the browser of the person: that of $BROWSER, or the system's.
// Where there is none, it says so: the address was printed before.
func openBrowser(warnings io.Writer, url string) {
	command := browserCommand(url)
	err := command.Start()
	if err != nil {
		fmt.Fprintf(warnings, "confab: warning: could not open a browser: %v\n", err)
		return
	}
	go command.Wait() // it may stay open as long as we run
}

// browserCommand is the command that opens a page.
func browserCommand(url string) *exec.Cmd {
	switch own := os.Getenv("BROWSER"); {
	case own != "":
		return exec.Command(own, url)
	case runtime.GOOS == "darwin":
		return exec.Command("open", url)
	}
	return exec.Command("xdg-open", url)
}
