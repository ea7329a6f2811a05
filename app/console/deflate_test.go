package console

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// unpack reads what compress wrote, by somebody else's hand.
func unpack(t *testing.T, packed []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func FuzzWhatIsCompressedCanBeRead(f *testing.F) {
	f.Add([]byte(nil), 1)
	f.Add([]byte("a"), 1)
	f.Add([]byte("abcab"), 3)
	f.Add([]byte("a"), 9_000)                  // copies of the longest kind, from the nearest place
	f.Add([]byte(strings.Repeat("é", 999)), 2) // and others
	f.Add([]byte("\x00\xff\x01\xfe\x02"), 2_000)
	f.Fuzz(func(t *testing.T, text []byte, times int) {
		text = bytes.Repeat(text, min(max(times, 1), 9_000/max(len(text), 1)+1))
		if !bytes.Equal(unpack(t, compress(text)), text) {
			t.Error("something else is read")
		}
	})
}

// Noise has no copies at all; and every distance up to the farthest is one that can be written.
func TestNoiseAndFarCopiesAreCompressed(t *testing.T) {
	noise := make([]byte, window)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	text := bytes.Repeat(noise, 2)
	packed := compress(text)
	if !bytes.Equal(unpack(t, packed), text) {
		t.Error("something else is read")
	}
	if len(packed) > window+window/20 {
		t.Errorf("%d bytes: what stands %d before is not copied", len(packed), window)
	}
}

func TestFilesAreSmallerThanAnybodyElseMakesThem(t *testing.T) {
	script := readAssets().byName[firstBundle]
	var other bytes.Buffer
	w, err := gzip.NewWriterLevel(&other, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(script.content)
	w.Close()

	own := script.gzipped()
	if !bytes.Equal(unpack(t, own), script.content) || len(own)*100 > other.Len()*97 {
		t.Errorf("%d bytes, where compress/gzip makes %d", len(own), other.Len())
	}
}
