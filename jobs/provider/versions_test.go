package provider

import (
	"testing"

	"github.com/matryer/is"
)

func TestEachVersionSaysWhenItEnds(t *testing.T) {
	is := is.New(t)
	end, known := VersionEnd("v21.0")
	is.True(known)
	is.Equal(end.Format("2006-01-02"), "2027-01-21")

	end, known = VersionEnd(NewestVersion)
	is.True(known && end.IsZero())

	_, known = VersionEnd("v99.0")
	is.True(!known)
}
