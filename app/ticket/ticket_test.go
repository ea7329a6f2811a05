package ticket

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/storage/storagetest"
)

func TestATicketIsGoodForItsPurposeAndItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := storagetest.Open(t)
		text, err := Seal(db, "signing in", 5*time.Minute, map[string]string{"user": "ada"})
		is.NoErr(err)

		var got map[string]string
		is.True(Open(db, "signing in", text, &got))
		is.Equal(got["user"], "ada")
		for _, other := range []string{"", "?", text[:len(text)-2], text + "AA", "A" + text} {
			is.True(!Open(db, "signing in", other, &got))
		}
		is.True(!Open(db, "signing out", text, &got)) // another purpose
		var number int
		is.True(!Open(db, "signing in", text, &number))

		time.Sleep(5*time.Minute - time.Millisecond)
		is.True(Open(db, "signing in", text, &got))
		time.Sleep(time.Millisecond)
		is.True(!Open(db, "signing in", text, &got))
	})
}
