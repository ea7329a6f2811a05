package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/toml/v2"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

const variablePrefix = "CONFAB_"

// planVariable finds the plan's name in a variable. The name may contain two
// underscores itself: the last two separate it from the setting.
var planVariable = regexp.MustCompile(`^CONFAB_PLANS__([A-Z0-9_]{1,50})__([A-Z_]+)$`)

// loadFile reads the TOML file, the first layer.
func (l *loader) loadFile(path string, content []byte) error {
	layer := koanf.New(".")
	if err := layer.Load(rawbytes.Provider(content), toml.Parser()); err != nil {
		return syntaxError(path, err)
	}
	l.readTable(layer.Raw(), "", path)
	return nil
}

// syntaxError says where the file cannot be parsed. It shows no text from the
// file, because that may contain a secret.
func syntaxError(path string, err error) error {
	message, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "toml: "), ": strconv.")

	// The error of the TOML parser satisfies this interface.
	type positioned interface {
		error
		Position() (line, column int)
	}

	if at, ok := errors.AsType[positioned](err); ok {
		line, column := at.Position()
		return fmt.Errorf("%s: line %d, column %d: %s", path, line, column, message)
	}
	return fmt.Errorf("%s: %s", path, message)
}

// loadEnvironment reads the CONFAB_ variables, the second layer. It returns those that set nothing.
func (l *loader) loadEnvironment(environ []string) (unknown []string) {
	for _, variable := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, variablePrefix) {
			continue
		}

		key := l.keyOfVariable(name)
		switch {
		case key != "":
			l.set(key, textValue(value), name)
		case !isReservedVariable(name):
			unknown = append(unknown, name+" is not a setting"+l.suggestVariable(name))
		}
	}
	return unknown
}

func variableName(key string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "__"))
}

func (l *loader) keyOfVariable(name string) string {
	if m := planVariable.FindStringSubmatch(name); m != nil {
		if leaf := strings.ToLower(m[2]); l.types["plans.*."+leaf] != nil {
			return "plans." + strings.ToLower(m[1]) + "." + leaf
		}
	}

	// A name cannot be split into its parts: keys contain underscores, too.
	for key := range l.types {
		if variableName(key) == name && !strings.Contains(key, "*") {
			return key
		}
	}
	return ""
}

// suggestVariable asks for the variable that was probably meant by an unknown one, if there is one.
func (l *loader) suggestVariable(name string) string {
	key := strings.TrimPrefix(name, variablePrefix)
	key = strings.ReplaceAll(strings.ToLower(key), "__", ".")
	if meant := closestKey(key, l.types); meant != "" && !strings.Contains(meant, "*") {
		return ", did you mean " + variableName(meant) + "?"
	}
	return ""
}

// isReservedVariable reports whether a variable is no setting, but one that commands read or set.
func isReservedVariable(name string) bool {
	switch strings.TrimPrefix(name, variablePrefix) {
	case "CONFIG", "MASTER_KEY", // where the settings are; what seals the secrets
		"BASE_URL", "API_KEY", "PHONE_NUMBER_ID", "SIMULATOR_URL", "WEBHOOK_SECRET", // what the sandbox passes to a test suite
		"APP_SECRET", "VERIFY_TOKEN", "ACCESS_TOKEN", "CONTROL_TOKEN": // secrets of `confab simulator` and `confab trigger`
		return true
	}
	return false
}

// loadFlags reads the flags that were given, the last layer.
func (l *loader) loadFlags(set *pflag.FlagSet, keys map[string]string) {
	if set == nil {
		return
	}

	set.Visit(func(f *pflag.Flag) {
		key, text := keys[f.Name], f.Value.String()
		if list, ok := f.Value.(pflag.SliceValue); ok { // whose String has brackets
			text = strings.Join(list.GetSlice(), ",")
		}

		switch {
		case l.types[pattern(key)] != nil:
			l.set(key, textValue(text), "--"+f.Name)
		case key != "":
			l.addUnknownKey(key, "--"+f.Name)
		}
	})
}
