package console

import (
	"cmp"
	"math/bits"
	"slices"
)

// The codes of the symbols of compressed files (deflate.go), and how they are written.

// lengthCode is the code of the length of a copy, distanceCode that of its distance: one for
// several, the more the longer; which one is meant is said by bits that follow.
func lengthCode(length int) int {
	if length == copyMost {
		return 285
	}
	n := length - copyLeast
	if n < 8 {
		return 257 + n
	}
	more := bits.Len(uint(n)) - 3
	return 257 + 4*more + n>>more
}

func lengthBits(code int) int {
	if code < 265 || code == 285 {
		return 0
	}
	return (code - 261) / 4
}

func distanceCode(distance int) int {
	n := distance - 1
	if n < 4 {
		return n
	}
	more := bits.Len(uint(n)) - 2
	return 2*more + n>>more
}

func distanceBits(code int) int { return max(0, code/2-1) }

// codeLengths are the lengths of the best codes of some symbols, none longer than most (by
// Larmore and Hirschberg: of the packages of each length, pairs make those of the next).
func codeLengths(counts []int, most int) []uint8 {
	lengths := make([]uint8, len(counts))
	used := byCount(counts)
	if len(used) < 2 {
		for _, symbol := range used {
			lengths[symbol] = 1
		}
		return lengths
	}

	type pack struct {
		weight  int
		symbols []int
	}
	var packs []pack
	for range most {
		var paired []pack
		for i := 0; i+1 < len(packs); i += 2 {
			paired = append(paired, pack{packs[i].weight + packs[i+1].weight, slices.Concat(packs[i].symbols, packs[i+1].symbols)})
		}
		packs = packs[:0]
		for _, symbol := range used {
			for len(paired) > 0 && paired[0].weight < counts[symbol] {
				packs, paired = append(packs, paired[0]), paired[1:]
			}
			packs = append(packs, pack{counts[symbol], []int{symbol}})
		}
		packs = append(packs, paired...)
	}
	for _, p := range packs[:2*len(used)-2] {
		for _, symbol := range p.symbols {
			lengths[symbol]++
		}
	}
	return lengths
}

// canonical are the codes of some lengths, with their bits in the order in which they are
// written.
func canonical(lengths []uint8) []uint16 {
	codes := make([]uint16, len(lengths))
	next := uint16(0)
	for length := uint8(1); length <= 15; length++ {
		for symbol, n := range lengths {
			if n == length {
				codes[symbol] = bits.Reverse16(next) >> (16 - length)
				next++
			}
		}
		next <<= 1
	}
	return codes
}

// byCount orders the symbols that are used by how often they are, the rarest first.
func byCount(counts []int) []int {
	var used []int
	for i, n := range counts {
		if n > 0 {
			used = append(used, i)
		}
	}
	slices.SortStableFunc(used, func(a, b int) int { return cmp.Compare(counts[a], counts[b]) })
	return used
}

// bitWriter writes bits, the lowest of a byte first.
type bitWriter struct {
	out     []byte
	pending uint64
	filled  int // bits of pending
}

func (w *bitWriter) write(value, width int) {
	w.pending |= uint64(value) << w.filled
	for w.filled += width; w.filled >= 8; w.filled -= 8 {
		w.out = append(w.out, byte(w.pending))
		w.pending >>= 8
	}
}

// flush fills the last byte.
func (w *bitWriter) flush() { w.write(0, (8-w.filled)%8) }

// block writes a row of symbols, after what their codes are.
func (w *bitWriter) block(text []byte, row part, last bool) {
	u := use(text, row)
	values, distances := codeLengths(u.values[:], 15), codeLengths(u.distances[:], 15)
	final := 0
	if last {
		final = 1
	}
	w.write(final, 1)
	w.write(2, 2) // with codes of its own
	w.table(values, distances)

	valueCodes, distanceCodes := canonical(values), canonical(distances)
	at := row.from
	for _, s := range row.symbols {
		if s.length == 1 {
			w.write(int(valueCodes[text[at]]), int(values[text[at]]))
		} else {
			code := lengthCode(s.length)
			w.write(int(valueCodes[code]), int(values[code]))
			w.rest(s.length-copyLeast, lengthBits(code))
			code = distanceCode(s.distance)
			w.write(int(distanceCodes[code]), int(distances[code]))
			w.rest(s.distance-1, distanceBits(code))
		}
		at += s.length
	}
	w.write(int(valueCodes[endOfBlock]), int(values[endOfBlock]))
}

// rest writes the lowest bits of a number, which its code leaves open.
func (w *bitWriter) rest(n, width int) { w.write(n&(1<<width-1), width) }

// run is a code length, or a word for several: 16 repeats the last one, 17 and 18 are zeros.
type run struct {
	code, rest, width int
}

// tableOrder is the order in which the lengths of the codes of runs are written.
var tableOrder = [...]int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// table writes the lengths of the codes of a block.
func (w *bitWriter) table(values, distances []uint8) {
	values, distances = trimmed(values, 257), trimmed(distances, 1)
	runs := runsOf(slices.Concat(values, distances))
	counts := make([]int, len(tableOrder))
	for _, r := range runs {
		counts[r.code]++
	}
	lengths := codeLengths(counts, 7)
	codes := canonical(lengths)
	known := len(tableOrder)
	for known > 4 && lengths[tableOrder[known-1]] == 0 {
		known--
	}

	w.write(len(values)-257, 5)
	w.write(len(distances)-1, 5)
	w.write(known-4, 4)
	for _, code := range tableOrder[:known] {
		w.write(int(lengths[code]), 3)
	}
	for _, r := range runs {
		w.write(int(codes[r.code]), int(lengths[r.code]))
		w.write(r.rest, r.width)
	}
}

// trimmed are code lengths without the zeros at their end, but some at the least.
func trimmed(lengths []uint8, least int) []uint8 {
	for len(lengths) > least && lengths[len(lengths)-1] == 0 {
		lengths = lengths[:len(lengths)-1]
	}
	return lengths
}

// runsOf says code lengths in few words.
func runsOf(lengths []uint8) (runs []run) {
	for i := 0; i < len(lengths); {
		n := 1
		for i+n < len(lengths) && lengths[i+n] == lengths[i] {
			n++
		}
		i += n

		length := int(lengths[i-1])
		if length > 0 {
			runs = append(runs, run{code: length})
			n--
		}
		for n > 0 {
			switch {
			case length == 0 && n >= 11:
				m := min(n, 138)
				runs, n = append(runs, run{18, m - 11, 7}), n-m
			case length == 0 && n >= 3:
				runs, n = append(runs, run{17, n - 3, 3}), 0
			case length > 0 && n >= 3:
				m := min(n, 6)
				runs, n = append(runs, run{16, m - 3, 2}), n-m
			default:
				runs, n = append(runs, run{code: length}), n-1
			}
		}
	}
	return runs
}
