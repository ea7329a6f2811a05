package api

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/api/rest"
)

func TestLengthsAreCountedInCodePoints(t *testing.T) {
	is := is.New(t)
	for text, length := range map[string]int{"": 0, "a": 1, "ä": 1, "日本": 2, "👍🏽": 2, "e\u0301": 2, strings.Repeat("ß", 50): 50} {
		is.True(rest.Between(text, length, length))
		is.True(!rest.Between(text, length+1, length+9))
		is.True(!rest.Between(text, 0, length-1))
	}
	is.Equal(rest.LengthRule(1, 50), "must have 1 to 50 characters")
}
