package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

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

// decodeBytes reads an amount, which a file may have as a number.
func decodeBytes(raw any) (any, error) {
	if v, ok := raw.(int64); ok {
		return Bytes(v), nil
	}
	return decodeText(raw, errBytes, parseBytes)
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
