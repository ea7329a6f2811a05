package storage_test

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestATokenIsReadOnlyWhereItWasMade(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	tokens := storage.NewTokens(db.DeriveKey("test"))
	for _, value := range []string{"", "a", strings.Repeat("long", 100)} {
		token := tokens.Seal("list", []byte(value))
		is.Equal(token, tokens.Seal("list", []byte(value))) // clients may compare them
		read, ok := tokens.Open("list", token)
		is.True(ok)
		is.Equal(string(read), value)
		_, ok = tokens.Open("other list", token)
		is.True(!ok)
		_, ok = storage.NewTokens(db.DeriveKey("other use")).Open("list", token)
		is.True(!ok)
		is.True(len(value) < 8 || !strings.Contains(token, value)) // of a short one that happens by chance
		for i := range token {
			flipped := token[:i] + string(token[i]^1) + token[i+1:]
			_, ok := tokens.Open("list", flipped)
			is.True(!ok)
		}
	}
}

func FuzzToken(f *testing.F) {
	db := storagetest.Open(f)
	tokens := storage.NewTokens(db.DeriveKey("test"))
	f.Add(tokens.Seal("", []byte("x")))
	f.Add("")
	f.Add("AAAAAAAAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, text string) {
		if value, ok := tokens.Open("", text); ok && tokens.Seal("", value) != text {
			t.Errorf("%q is read as %q, whose token is another", text, value)
		}
	})
}
