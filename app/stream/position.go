package stream

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"
	"strings"
)

// position is how far a stream came: every event up to seq was sent or left out by its
// filters, and, where replays are sent too, every replay up to replay.
type position struct {
	seq    int64
	replay int64 // noReplays where none are sent
}

// noReplays takes the place of a replay's number.
const noReplays = -1

// A position is one encrypted block of a few bytes for recognition, the epoch, and the
// number; with replays there is a second block for theirs. No one but us can make one,
// and no one can read in it how much happens on the server.
const (
	blockSize  = aes.BlockSize
	epochSize  = 6
	numberSize = 6 // more events than anybody can store
)

// The marks distinguish the two blocks from each other, and from foreign ones.
var eventMark, replayMark = [4]byte{'s', 'e', 'q', 1}, [4]byte{'r', 'p', 'l', 1}

// positions makes and reads positions.
type positions struct {
	block cipher.Block
	epoch [epochSize]byte
}

func newPositions(key []byte, epoch [8]byte) (*positions, error) {
	block, err := aes.NewCipher(key)
	p := &positions{block: block}
	copy(p.epoch[:], epoch[:])
	return p, err
}

// append appends the text of a position.
func (p *positions) append(b []byte, at position) []byte {
	sealed := make([]byte, 0, 2*blockSize)
	sealed = p.appendBlock(sealed, eventMark, at.seq)
	if at.replay != noReplays {
		sealed = p.appendBlock(sealed, replayMark, at.replay)
	}
	return base64.RawURLEncoding.AppendEncode(b, sealed)
}

func (p *positions) appendBlock(b []byte, mark [4]byte, number int64) []byte {
	var plain [blockSize]byte
	copy(plain[:], mark[:])
	copy(plain[len(mark):], p.epoch[:])
	var digits [8]byte
	binary.BigEndian.PutUint64(digits[:], uint64(number))
	copy(plain[len(mark)+epochSize:], digits[8-numberSize:])

	start := len(b)
	b = append(b, plain[:]...)
	p.block.Encrypt(b[start:], plain[:])
	return b
}

// parse reads a position. ok is false for a text that is none of ours, and ours is false
// for a position of another epoch.
func (p *positions) parse(text string) (at position, ours, ok bool) {
	at.replay = noReplays
	if strings.ContainsAny(text, "\r\n") { // which the decoder would overlook
		return at, false, false
	}

	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) != blockSize && len(raw) != 2*blockSize {
		return at, false, false
	}

	at.seq, ours, ok = p.parseBlock(raw[:blockSize], eventMark)
	if ok && len(raw) > blockSize {
		at.replay, _, ok = p.parseBlock(raw[blockSize:], replayMark)
	}
	return at, ours, ok
}

func (p *positions) parseBlock(sealed []byte, mark [4]byte) (number int64, ours, ok bool) {
	var plain [blockSize]byte
	p.block.Decrypt(plain[:], sealed)

	var digits [8]byte
	copy(digits[8-numberSize:], plain[len(mark)+epochSize:])
	number = int64(binary.BigEndian.Uint64(digits[:]))
	return number, [epochSize]byte(plain[len(mark):len(mark)+epochSize]) == p.epoch, [4]byte(plain[:len(mark)]) == mark
}
