package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// eachSetting calls visit for every setting of a settings struct, with its dotted
// key, in the order of the fields; plans are sorted by name.
//
// If v can be set, visit may set a field, but not one of a plan: plans are visited
// as copies, because the values of a map cannot be set.
func eachSetting(v reflect.Value, prefix string, visit func(key string, field reflect.Value)) {
	for tag, field := range v.Fields() {
		name := tag.Tag.Get("koanf")
		switch {
		case name == "-":
		case field.Kind() == reflect.Struct:
			eachSetting(field, prefix+name+".", visit)
		case field.Kind() == reflect.Map:
			plans := field.Interface().(map[string]Plan)
			for _, plan := range slices.Sorted(maps.Keys(plans)) {
				p := plans[plan]
				eachSetting(reflect.ValueOf(&p).Elem(), prefix+name+"."+plan+".", visit)
			}
		default:
			visit(prefix+name, field)
		}
	}
}

func settingTypes() map[string]reflect.Type {
	types := map[string]reflect.Type{}
	all := Config{Plans: map[string]Plan{"*": {}}}
	eachSetting(reflect.ValueOf(all), "", func(key string, field reflect.Value) {
		types[key] = field.Type()
	})
	return types
}

// pattern is the key with * in place of a plan's name: all plans have the same
// settings, described once as plans.*.burst and so on.
func pattern(key string) string {
	parts := strings.Split(key, ".")
	if len(parts) > 1 && parts[0] == "plans" {
		parts[1] = "*"
	}
	return strings.Join(parts, ".")
}

// closestKey is the known key that was probably meant by an unknown one, or empty:
// the closest one within two edits, else the only one with the same last part.
func closestKey(unknown string, types map[string]reflect.Type) string {
	parts := strings.Split(unknown, ".")
	leaf := "." + parts[len(parts)-1]

	best, distance := "", 3
	var sameLeaf []string
	for _, key := range slices.Sorted(maps.Keys(types)) {
		if len(parts) > 2 {
			key = strings.Replace(key, "*", parts[1], 1)
		}
		if d := editDistance(unknown, key); d < distance {
			best, distance = key, d
		}
		if strings.HasSuffix(key, leaf) && !strings.Contains(key, "*") {
			sameLeaf = append(sameLeaf, key)
		}
	}
	if best == "" && len(sameLeaf) == 1 {
		return sameLeaf[0]
	}
	return best
}

// editDistance is the Levenshtein distance. For texts whose lengths differ by more than two, which
// is too far for closestKey, it is just 3: a huge key must not take long.
func editDistance(a, b string) int {
	if d := len(a) - len(b); d < -2 || d > 2 {
		return 3
	}

	// row[j] is the distance between what was read of a and the first j bytes of b.
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}

	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
