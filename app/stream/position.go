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
	blockSize = aes.BlockSize
	epochSize = 6
	// The marks distinguish the two blocks from each other, and from foreign ones.
	markSize   = 4
	eventMark  = "seq\x01"
	replayMark = "rpl\x01"
)

type positions struct {
	block cipher.Block
	epoch string
}

func newPositions(key []byte, epoch [8]byte) (*positions, error) {
	block, err := aes.NewCipher(key)
	return &positions{block: block, epoch: string(epoch[:epochSize])}, err
}

func (p *positions) append(b []byte, at position) []byte {
	sealed := p.appendBlock(make([]byte, 0, 2*blockSize), eventMark, at.seq)
	if at.replay != noReplays {
		sealed = p.appendBlock(sealed, replayMark, at.replay)
	}
	return base64.RawURLEncoding.AppendEncode(b, sealed)
}

// appendBlock appends a block. Its number has six bytes: more events than anybody can store.
func (p *positions) appendBlock(b []byte, mark string, number int64) []byte {
	start := len(b)
	b = append(append(b, mark...), p.epoch...)
	b = binary.BigEndian.AppendUint16(b, uint16(number>>32))
	b = binary.BigEndian.AppendUint32(b, uint32(number))
	p.block.Encrypt(b[start:], b[start:])
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

func (p *positions) parseBlock(b []byte, mark string) (number int64, ours, ok bool) {
	p.block.Decrypt(b, b)
	epoch, digits := b[markSize:markSize+epochSize], b[markSize+epochSize:]
	number = int64(binary.BigEndian.Uint16(digits))<<32 | int64(binary.BigEndian.Uint32(digits[2:]))
	return number, string(epoch) == p.epoch, string(b[:markSize]) == mark
}
