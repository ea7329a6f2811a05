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

// newSmallDisk mounts one, large enough for a trial, where that is permitted.
func newSmallDisk(path string, length time.Duration) *smallDisk {
	size := 512 + 256*int(length/time.Minute) // MB
	if os.MkdirAll(path, 0o700) != nil || exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm", size), "tmpfs", path).Run() != nil {
		return nil
	}
	return &smallDisk{path}
}

// fill leaves no free block. The returned function makes room again.
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
