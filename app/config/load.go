package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/toml/v2"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

// Sources is where settings come from. The environment is passed in rather
// than read here, so that tests may run side by side.
type Sources struct {
	// Defaults are what the layers change; nil means Default, with data_dir
	// from $STATE_DIRECTORY where systemd sets it. The sandbox has its own.
	Defaults *Config

	File         string // path of a TOML file; empty for none
	FileRequired bool   // a missing file is an error; set it when the user named the file

	Environ  []string          // NAME=value, as of os.Environ
	Flags    *pflag.FlagSet    // only flags given on the command line count; may be nil
	FlagKeys map[string]string // flag name to dotted key; other flags are no settings
}

// Load reads the settings: defaults, then the file, then variables, then flags.
// Its error joins an Error for each setting that cannot be used, in any layer,
// whether or not a later layer replaces it.
func Load(from Sources) (Config, error) {
	var content []byte
	if from.File != "" {
		var err error
		content, err = os.ReadFile(from.File)
		if err != nil && (from.FileRequired || !errors.Is(err, fs.ErrNotExist)) {
			return Config{}, fmt.Errorf("read settings: %w", err)
		}
	}
	return load(from, bytes.TrimPrefix(content, []byte("\ufeff"))) // the byte order mark of some editors
}

func load(from Sources, content []byte) (Config, error) {
	l := &loader{
		types:  settingTypes(),
		checks: checks(),
		values: map[string]loadedValue{},
		plans:  map[string]bool{},
	}

	if err := l.loadFile(from.File, content); err != nil {
		return Config{}, err
	}
	unknown := l.loadEnvironment(from.Environ)
	if from.Flags != nil {
		from.Flags.Visit(func(f *pflag.Flag) { // only those that were given
			if key := from.FlagKeys[f.Name]; key != "" {
				l.set(key, textValue(f.Value.String()), "--"+f.Name)
			}
		})
	}

	// The rules between settings are checked only if each is valid by itself.
	if len(l.problems) > 0 {
		return Config{}, errors.Join(l.problems...)
	}

	cfg, err := l.build(from.defaults())
	if err != nil {
		return Config{}, err
	}
	cfg.UnknownVariables = unknown
	return cfg, nil
}

func (from Sources) defaults() Config {
	if from.Defaults != nil {
		return *from.Defaults
	}

	cfg := Default()
	for _, variable := range from.Environ {
		// systemd may list several directories, with colons between them.
		if dirs, ok := strings.CutPrefix(variable, "STATE_DIRECTORY="); ok && dirs != "" {
			cfg.DataDir, _, _ = strings.Cut(dirs, ":")
		}
	}
	return cfg
}

// loader collects the settings of all layers. koanf only reads the file: its own
// decoding does not keep the origin of a value.
type loader struct {
	types    map[string]reflect.Type // by pattern
	checks   map[string]check        // by pattern
	values   map[string]loadedValue  // by key; a later layer replaces an earlier one's
	plans    map[string]bool         // named in any layer, if only by an empty table
	problems []error
}

// loadedValue is a setting as the last layer that has it gives it.
type loadedValue struct {
	value  any    // of the field's type
	shown  string // as written, for errors
	origin string // file, variable or flag
}

// readTable reads one table of a file, and the tables in it. Keys are sorted, so that
// the same mistakes are always reported in the same order.
func (l *loader) readTable(table map[string]any, prefix, file string) {
	for _, name := range slices.Sorted(maps.Keys(table)) {
		key, raw := prefix+name, table[name]
		sub, isTable := raw.(map[string]any)

		switch {
		case strings.Contains(name, "."): // in quotes, "server.listen" is not listen of server
			l.addProblem(&Error{Key: key, Origin: file, Problem: "unknown key, try it without the quotes"})
		case l.types[pattern(key)] != nil:
			l.set(key, raw, file)
		case l.isSection(key) && !isTable:
			l.addProblem(&Error{Key: key, Value: formatValue(raw), Origin: file, Problem: "must be a table, [" + key + "]"})
		case strings.HasPrefix(key, "plans.") && l.isSection(key) && !planName.MatchString(name):
			l.addProblem(&Error{Key: key, Origin: file, Problem: errPlanName.Error()})
		case isTable && (l.isSection(key) || len(sub) > 0):
			l.addPlan(key)
			l.readTable(sub, key+".", file)
		default:
			problem := "unknown key"
			if meant := closestKey(key, l.types); meant != "" {
				problem += ", did you mean " + meant + "?"
			}
			l.addProblem(&Error{Key: key, Origin: file, Problem: problem})
		}
	}
}

// set decodes one value, checks it and keeps it.
func (l *loader) set(key string, raw any, origin string) {
	to := l.types[pattern(key)]
	shown := formatValue(raw)
	if to == reflect.TypeFor[Secret]() {
		shown = hidden
	}

	value, err := decode(raw, to)
	if check := l.checks[pattern(key)]; err == nil && check != nil {
		err = check(value)
	}
	if err != nil {
		l.addProblem(&Error{Key: key, Value: shown, Origin: origin, Problem: err.Error()})
		return
	}

	l.values[key] = loadedValue{value, shown, origin}
	l.addPlan(key)
}

func (l *loader) isSection(key string) bool {
	section := pattern(key) + "."
	for known := range l.types {
		if strings.HasPrefix(known, section) {
			return true
		}
	}
	return false
}

// addPlan records a plan if the key is one's: a plan with an empty table exists, too.
func (l *loader) addPlan(key string) {
	if parts := strings.Split(key, "."); parts[0] == "plans" && len(parts) > 1 {
		l.plans[parts[1]] = true
	}
}

func (l *loader) addProblem(err *Error) { l.problems = append(l.problems, err) }

// build applies the collected values to the defaults, and checks the rules between settings.
func (l *loader) build(cfg Config) (Config, error) {
	l.applyValues(reflect.ValueOf(&cfg).Elem(), "")
	cfg.Plans = l.buildPlans(cfg.Plans)
	cfg.Server.PublicURL = strings.TrimRight(cfg.Server.PublicURL, "/")
	cfg.Provider.BaseURL = strings.TrimRight(cfg.Provider.BaseURL, "/")

	// problems sees only the merged values; here each error gets its origin.
	for _, err := range cfg.problems() {
		if given, ok := l.written(err.Key); ok {
			err.Value, err.Origin = given.shown, given.origin
		}
		l.addProblem(err)
	}
	return cfg, errors.Join(l.problems...)
}

// written finds the value that a layer has for a key, or the one that a plan inherits of self_hosted.
func (l *loader) written(key string) (loadedValue, bool) {
	if found, ok := l.values[key]; ok {
		return found, true
	}
	found, ok := l.values[strings.Replace(pattern(key), "*", SelfHosted, 1)]
	return found, ok
}

func (l *loader) applyValues(v reflect.Value, prefix string) {
	eachSetting(v, prefix, func(key string, field reflect.Value) {
		if given, ok := l.values[key]; ok {
			field.Set(reflect.ValueOf(given.value))
		}
	})
}

const variablePrefix = "CONFAB_"

// planVariable finds the plan's name in a variable. The name may contain two
// underscores itself: the last two separate it from the setting.
var planVariable = regexp.MustCompile(`^CONFAB_PLANS__([A-Z0-9_]{1,50})__([A-Z_]+)$`)

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

		key := keyOfVariable(name)
		switch {
		case l.types[pattern(key)] != nil && variableName(key) == name && !strings.Contains(key, "*"):
			l.set(key, textValue(value), name)
		case !slices.Contains(reservedVariables, name):
			problem := name + " is not a setting"
			if meant := closestKey(key, l.types); meant != "" && !strings.Contains(meant, "*") {
				problem += ", did you mean " + variableName(meant) + "?"
			}
			unknown = append(unknown, problem)
		}
	}
	return unknown
}

func variableName(key string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "__"))
}

// keyOfVariable is the key that a variable would set, if there were such a setting.
func keyOfVariable(name string) string {
	if m := planVariable.FindStringSubmatch(name); m != nil {
		return "plans." + strings.ToLower(m[1]+"."+m[2])
	}
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, variablePrefix)), "__", ".")
}

// reservedVariables are no settings: commands read or set them.
var reservedVariables = []string{
	"CONFAB_CONFIG", "CONFAB_MASTER_KEY", // where the settings are; what seals the secrets
	// what the sandbox passes to a test suite
	"CONFAB_BASE_URL", "CONFAB_API_KEY", "CONFAB_PHONE_NUMBER_ID", "CONFAB_SIMULATOR_URL", "CONFAB_WEBHOOK_SECRET",
	// secrets of 'confab accounts', 'confab simulator' and 'confab trigger'
	"CONFAB_PIN", "CONFAB_APP_SECRET", "CONFAB_VERIFY_TOKEN", "CONFAB_ACCESS_TOKEN", "CONFAB_CONTROL_TOKEN",
}
