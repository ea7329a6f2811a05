package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// textValue is the value of a variable or a flag. It is a type of its own because such a value may
// be a number or a list, while a string "5" in a file, where a number is expected, is an error.
type textValue string

// The form of each type of value, as errors say it.
var (
	errText     = errors.New("must be text in quotes")
	errBool     = errors.New("must be true or false")
	errInt      = errors.New("must be a whole number")
	errFloat    = errors.New("must be a number")
	errDuration = errors.New("must be a duration such as 30s, 5m, 12h or 90d")
	errNegative = errors.New("must not be negative")
	errTooLong  = errors.New("must be shorter than 292 years")
	errPrefix   = errors.New("must be an address or a network such as 10.0.0.0/8 or ::1")
	errList     = errors.New(`must be a list such as ["one", "two"], or one,two in a variable`)
	errEmpty    = errors.New("must not have empty items")
)

// daysPrefix matches the days that begin an age; time.ParseDuration reads the rest.
var daysPrefix = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)d([0-9.].*)?$`)

// decode turns a raw value of any layer into the type of its setting.
func decode(raw any, to reflect.Type) (any, error) {
	if to.Kind() == reflect.Slice {
		return decodeList(raw, to)
	}

	switch reflect.Zero(to).Interface().(type) {
	case string:
		return decodeText(raw, errText, func(s string) (string, error) { return s, nil })
	case Secret:
		return decodeText(raw, errText, func(s string) (Secret, error) { return Secret(s), nil })
	case bool:
		switch raw.(type) {
		case int64, float64:
			return nil, errBool // though a variable may be 1
		}
		return decodeScalar(raw, errBool, strconv.ParseBool)
	case int:
		if _, isFloat := raw.(float64); isFloat {
			return nil, errInt
		}
		return decodeScalar(raw, errInt, strconv.Atoi)
	case float64:
		return decodeScalar(raw, errFloat, parseNumber)
	case time.Duration:
		if raw == int64(0) {
			return time.Duration(0), nil // a zero needs no unit
		}
		return decodeText(raw, errDuration, ParseAge)
	case Bytes:
		if number, ok := raw.(int64); ok {
			return Bytes(number), nil
		}
		return decodeText(raw, errBytes, parseBytes)
	case netip.Prefix:
		return decodeText(raw, errPrefix, parsePrefix)
	}
	panic("config: no decoder for " + to.String())
}

// decodeText reads a value that is text in every layer, also in a file.
func decodeText[T any](raw any, wrong error, parse func(string) (T, error)) (any, error) {
	switch v := raw.(type) {
	case string:
		return parse(v)
	case textValue:
		return parse(string(v))
	}
	return nil, wrong
}

// decodeScalar reads a value that is text in variables only: in a file it has no quotes.
func decodeScalar[T any](raw any, wrong error, parse func(string) (T, error)) (any, error) {
	if _, quoted := raw.(string); !quoted {
		if value, err := parse(fmt.Sprint(raw)); err == nil {
			return value, nil
		}
	}
	return nil, wrong
}

func parseNumber(s string) (float64, error) {
	n, err := strconv.ParseFloat(s, 64)
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, errFloat
	}
	return n, err
}

// decodeList reads an array of the file, or text with commas. An empty list
// is nil, so that it equals an unset one.
func decodeList(raw any, to reflect.Type) (any, error) {
	items, err := splitList(raw)
	if err != nil {
		return nil, err
	}

	list := reflect.Zero(to)
	for _, item := range items {
		value, err := decode(item, to.Elem())
		if err != nil {
			return nil, fmt.Errorf("item %s %w", formatValue(item), err)
		}
		list = reflect.Append(list, reflect.ValueOf(value))
	}
	return list.Interface(), nil
}

// splitList returns the items of a list, not yet decoded: those of a TOML array,
// or the parts of a text with commas.
func splitList(raw any) ([]any, error) {
	var joined string
	switch v := raw.(type) {
	case []any:
		return v, nil
	case string:
		joined = v // a single item, or the form that variables have
	case textValue:
		joined = string(v)
	default:
		return nil, errList
	}

	if strings.TrimSpace(joined) == "" {
		return nil, nil
	}

	var items []any
	for item := range strings.SplitSeq(joined, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			return nil, errEmpty
		}
		items = append(items, textValue(item))
	}
	return items, nil
}

// ParseAge reads a duration as Go writes them, or one that begins with days:
// 90d, 1d12h, 0.5d. It is never negative.
func ParseAge(s string) (time.Duration, error) {
	number, rest := "0", s
	if m := daysPrefix.FindStringSubmatch(s); m != nil {
		number, rest = m[1], cmp.Or(m[2], "0s")
	}

	part, err := time.ParseDuration(rest)
	switch {
	case err != nil:
		return 0, errDuration
	case part < 0:
		return 0, errNegative
	}

	whole, _ := strconv.ParseFloat(number, 64) // the pattern admits numbers only; a huge one is infinite
	whole *= float64(24 * time.Hour)
	if whole+float64(part) >= math.MaxInt64 {
		return 0, errTooLong
	}

	return time.Duration(whole) + part, nil
}

// parsePrefix reads a network, or an address, which is the network of only that address. An IPv4
// address mapped into IPv6 becomes IPv4 again: as a mapped prefix it would match no IPv4 client.
func parsePrefix(s string) (netip.Prefix, error) {
	if ip, err := netip.ParseAddr(s); err == nil && ip.Zone() == "" {
		ip = ip.Unmap()
		return netip.PrefixFrom(ip, ip.BitLen()), nil
	}

	p, err := netip.ParsePrefix(s)
	if err != nil {
		return netip.Prefix{}, errPrefix
	}

	if p.Addr().Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p.Masked(), nil
}

// Bytes is an amount of data, written as a number of bytes or as in 512MiB or 2GiB.
type Bytes int64

var errBytes = errors.New("must be a number of bytes, or a size such as 512MiB or 2GiB")

// byteUnits are the units of Bytes, the largest first.
var byteUnits = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// String writes the amount in the largest unit of which it is a multiple.
func (b Bytes) String() string {
	for _, u := range byteUnits {
		if b != 0 && int64(b)%u.bytes == 0 {
			return strconv.FormatInt(int64(b)/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

func parseBytes(s string) (Bytes, error) {
	number, unit := strings.TrimSpace(s), int64(1)
	for _, u := range byteUnits {
		if rest, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}

	n, err := strconv.ParseInt(number, 10, 64)
	switch {
	case err != nil, n > math.MaxInt64/unit:
		return 0, errBytes
	case n < 0:
		return 0, errNegative
	}
	return Bytes(n * unit), nil
}
