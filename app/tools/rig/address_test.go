package rig

import (
	"net"
	"strconv"
	"testing"
)

func TestEachFreeAddressIsAnotherAndBelowThoseOfTheSystem(t *testing.T) {
	given := make(map[string]bool)
	for range 100 {
		address, err := FreeAddress()
		if err != nil {
			t.Fatal(err)
		}
		if given[address] {
			t.Errorf("%s was given twice", address)
		}
		given[address] = true
		_, text, err := net.SplitHostPort(address)
		if err != nil {
			t.Fatal(err)
		}
		if port, err := strconv.Atoi(text); err != nil || port < 1024 || port >= 32768 {
			t.Errorf("port %s is one that the system may give to others", text)
		}
	}
}
