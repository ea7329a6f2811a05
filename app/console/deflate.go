package console

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
)

// What browsers get of the console is compressed once and sent often. So it is worth to look
// for the shortest way of writing it in the format of gzip (RFC 1951 and 1952), which is four
// in a hundred shorter than what compress/gzip finds at its best.
//
// A text is written as a row of symbols: a byte as it is, or a copy of what stood before. Which
// row is the shortest depends on what each symbol costs, and that on how often each is used. So
// the costs are guessed, the best row for them is found, and what it uses gives better costs,
// several times over. Blocks have costs of their own, where that is worth their tables.
const (
	window     = 32 << 10
	copyLeast  = 3
	copyMost   = 258
	endOfBlock = 256
	turns      = 6       // how often costs are made better
	blockLeast = 4 << 10 // bytes
)

// symbol is a byte, when its length is 1, or a copy of some length from some distance.
type symbol struct {
	length, distance int
}

// reach says how long a copy from some distance can be, and from no nearer place.
type reach struct {
	length, distance uint16
}

// compress is a text in the format of gzip.
func compress(content []byte) []byte {
	b := bitWriter{out: []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 0xff}}
	p := &parser{text: content, reaches: findReaches(content)}
	blocks := p.blocks()
	for i, block := range blocks {
		b.block(content, block, i == len(blocks)-1)
	}

	b.flush()
	b.out = binary.LittleEndian.AppendUint32(b.out, crc32.ChecksumIEEE(content))
	return binary.LittleEndian.AppendUint32(b.out, uint32(len(content)))
}

// findReaches finds for each place of a text which copies it could begin with: longer ones
// from farther away.
func findReaches(text []byte) [][]reach {
	found := make([][]reach, len(text))
	last := make(map[[copyLeast]byte]int)
	before := make([]int, len(text)) // the place before with the same three bytes
	for i := range max(0, len(text)-copyLeast+1) {
		key := [copyLeast]byte(text[i:])
		at, ok := last[key]
		if !ok {
			at = -1
		}
		last[key], before[i] = i, at

		best := copyLeast - 1
		for ; at >= 0 && i-at <= window; at = before[at] {
			if i+best >= len(text) || text[at+best] != text[i+best] {
				continue
			}
			length := copyLeast
			for length < copyMost && i+length < len(text) && text[at+length] == text[i+length] {
				length++
			}
			if length > best {
				best = length
				found[i] = append(found[i], reach{uint16(length), uint16(i - at - 1)})
			}
			if best == copyMost {
				break
			}
		}
	}
	return found
}

// parser finds the best rows of symbols for a text.
type parser struct {
	text    []byte
	reaches [][]reach
}

// part is a row of symbols with the place of the text where it begins and ends.
type part struct {
	from, to int
	symbols  []symbol
}

// blocks are the parts of the text, each with the best row that was found for it.
func (p *parser) blocks() []part {
	whole := p.best(0, len(p.text), guessed())
	cuts := append(p.cuts(whole), len(p.text))
	var blocks []part
	from := 0
	for _, to := range cuts {
		u := use(p.text, p.within(whole, from, to))
		blocks = append(blocks, p.best(from, to, u.costs()))
		from = to
	}
	return blocks
}

// within are the symbols of a row between two places where symbols begin.
func (p *parser) within(row part, from, to int) part {
	at, first := row.from, -1
	for i, s := range row.symbols {
		if at >= from && first < 0 {
			first = i
		}
		if at >= to {
			return part{from, to, row.symbols[max(first, 0):i]}
		}
		at += s.length
	}
	return part{from, to, row.symbols[max(first, 0):]}
}

// cuts are the places where a row is better written as two, again and again.
func (p *parser) cuts(row part) []int {
	const tries = 24
	length := row.to - row.from
	if length < 2*blockLeast {
		return nil
	}

	whole, best, cut := use(p.text, row).size(), math.MaxFloat64, 0
	at, next := row.from, row.from+blockLeast
	for _, s := range row.symbols {
		if at >= next && at <= row.to-blockLeast {
			size := use(p.text, p.within(row, row.from, at)).size() + use(p.text, p.within(row, at, row.to)).size()
			if size < best {
				best, cut = size, at
			}
			next = at + max(256, length/tries)
		}
		at += s.length
	}
	if best >= whole {
		return nil
	}
	return slices.Concat(p.cuts(p.within(row, row.from, cut)), []int{cut}, p.cuts(p.within(row, cut, row.to)))
}

// best is the best row that was found for a part of the text, beginning with some costs.
func (p *parser) best(from, to int, c *costs) part {
	var best part
	size := math.MaxFloat64
	for range turns {
		row := p.cheapest(from, to, c)
		u := use(p.text, row)
		if n := u.size(); n < size {
			best, size = row, n
		}
		c = u.costs()
	}
	return best
}

// cheapest is the cheapest row for a part of the text at some costs.
func (p *parser) cheapest(from, to int, c *costs) part {
	length := to - from
	total := make([]float32, length+1)
	taken := make([]symbol, length+1) // the symbol that ends at a place
	for i := 1; i <= length; i++ {
		total[i] = math.MaxFloat32
	}

	for i := range length {
		if price := total[i] + c.literals[p.text[from+i]]; price < total[i+1] {
			total[i+1], taken[i+1] = price, symbol{length: 1}
		}
		least := copyLeast
		for _, r := range p.reaches[from+i] {
			distance := int(r.distance) + 1
			price := total[i] + c.distances[distanceCode(distance)]
			for n := least; n <= min(int(r.length), length-i); n++ {
				if price := price + c.lengths[n]; price < total[i+n] {
					total[i+n], taken[i+n] = price, symbol{n, distance}
				}
			}
			least = int(r.length) + 1
		}
	}

	var row []symbol
	for i := length; i > 0; i -= taken[i].length {
		row = append(row, taken[i])
	}
	slices.Reverse(row)
	return part{from, to, row}
}

// usage says how often the symbols of a block are used.
type usage struct {
	values    [286]int // bytes, the end of the block, and codes of lengths
	distances [30]int
	extra     int // bits that follow codes
}

// use counts what a row uses.
func use(text []byte, row part) *usage {
	u := &usage{}
	at := row.from
	for _, s := range row.symbols {
		if s.length == 1 {
			u.values[text[at]]++
		} else {
			length, distance := lengthCode(s.length), distanceCode(s.distance)
			u.values[length]++
			u.distances[distance]++
			u.extra += lengthBits(length) + distanceBits(distance)
		}
		at += s.length
	}
	u.values[endOfBlock]++
	return u
}

// size is about how many bits a block takes.
func (u *usage) size() float64 {
	const perCode = 3.5 // bits, in the table that says what the codes are
	size := float64(u.extra) + 80
	for _, counts := range [][]int{u.values[:], u.distances[:]} {
		for i, worth := range entropy(counts) {
			if n := counts[i]; n > 0 {
				size += perCode + float64(n)*float64(worth)
			}
		}
	}
	return size
}

// costs are what symbols cost, in bits.
type costs struct {
	literals  [256]float32
	lengths   [copyMost + 1]float32
	distances [30]float32
}

// guessed are costs before anything is known.
func guessed() *costs {
	u := &usage{}
	for i := range u.values {
		u.values[i] = 1
	}
	for i := range u.distances {
		u.distances[i] = 1
	}
	return u.costs()
}

// costs are those of the symbols of a block that is written so.
func (u *usage) costs() *costs {
	values, distances := entropy(u.values[:]), entropy(u.distances[:])
	c := &costs{}
	copy(c.literals[:], values)
	for n := copyLeast; n <= copyMost; n++ {
		code := lengthCode(n)
		c.lengths[n] = values[code] + float32(lengthBits(code))
	}
	for i := range c.distances {
		c.distances[i] = distances[i] + float32(distanceBits(i))
	}
	return c
}

// entropy is how many bits each of some symbols is worth.
func entropy(counts []int) []float32 {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	worth := make([]float32, len(counts))
	for i, n := range counts {
		worth[i] = float32(math.Log2(float64(max(sum, 1)) / max(float64(n), 0.5)))
	}
	return worth
}
