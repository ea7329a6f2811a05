package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// smallDisk is a file system of its own that can be filled up.
type smallDisk struct{ path string }

// newSmallDisk mounts one that is large enough for a trial, or returns nil if that is not
// permitted.
func newSmallDisk(path string, length time.Duration) *smallDisk {
	size := 512 + 256*int(length/time.Minute) // MB
	if os.MkdirAll(path, 0o700) != nil {
		return nil
	}
	if exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm", size), "tmpfs", path).Run() != nil {
		return nil
	}
	return &smallDisk{path}
}

// fill writes a file until no block is free. The returned function removes it.
func (d *smallDisk) fill() (func(), error) {
	ballast := filepath.Join(d.path, "ballast")
	f, err := os.Create(ballast)
	if err != nil {
		return nil, err
	}
	defer f.Close()

	for block := make([]byte, 1<<20); len(block) >= 512; {
		if _, err := f.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}

	return func() { os.Remove(ballast) }, nil
}

func (d *smallDisk) remove() {
	exec.Command("umount", "-l", d.path).Run()
}

// copyDir copies a directory into another one, with anything in it: a server that was killed
// leaves a socket, at which os.CopyFS stops.
func copyDir(dir, into string) {
	copying := exec.Command("cp", "-R", dir, into)
	copying.Stderr = os.Stderr
	copying.Run()
}
