package config

import (
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// switchedOff is a setting in the example file; prose has a space after the #.
var switchedOff = regexp.MustCompile(`(?m)^#([a-z_]+ = .*)$`)

func exampleFile(t testing.TB) string {
	t.Helper()
	content, err := os.ReadFile("../../config.example.toml")
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestTheExampleFileChangesNothing(t *testing.T) {
	is := is.New(t)
	cfg, err := Load(Sources{File: "../../config.example.toml", FileRequired: true})
	is.NoErr(err)
	is.Equal(cfg, Default())
}

func TestTheExampleFileShowsEverySettingWithItsDefault(t *testing.T) {
	is := is.New(t)
	content := switchedOff.ReplaceAllString(exampleFile(t), "$1")

	l := &loader{types: settingTypes(), checks: checks(), values: map[string]loadedValue{}, plans: map[string]bool{}}
	is.NoErr(l.loadFile("example", []byte(content)))
	is.Equal(slices.Sorted(maps.Keys(l.values)), slices.Sorted(maps.Keys(allSettings(Default())))) // every key is there

	cfg, err := Load(Sources{File: writeFile(t, content)})
	is.NoErr(err)
	is.True(reflect.DeepEqual(cfg, Default())) // every value is the default
}

func TestTheExampleFileExplainsEachSetting(t *testing.T) {
	is := is.NewRelaxed(t)
	lines := strings.Split(exampleFile(t), "\n")
	for i, line := range lines {
		if switchedOff.MatchString(line) && !strings.HasPrefix(lines[i-1], "# ") {
			is.Equal(line, "a line of why above it")
		}
		is.True(line == "" || line[0] == '#' || line[0] == '[') // nothing is switched on
	}
}
