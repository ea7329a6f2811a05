package objects

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
)

// Check writes, reads and deletes one object, and says which of these failed, and why.
func Check(ctx context.Context, s Store) error {
	key, text := "check-"+rand.Text(), []byte(rand.Text())

	if err := s.Put(ctx, key, bytes.NewReader(text), int64(len(text))); err != nil {
		return fmt.Errorf("could not write an object: %w", err)
	}

	same, _, err := hasContent(ctx, s, key, text)
	switch {
	case err != nil:
		err = fmt.Errorf("could not read an object: %w", err)
	case !same:
		err = errors.New("an object was not read as it was written")
	}
	if gone := s.Delete(ctx, key); gone != nil {
		err = errors.Join(err, fmt.Errorf("could not delete an object: %w", gone))
	}
	return err
}

// CheckConditions is Check for a storage that PutIf is used with: one that ignores the
// condition would let two of them win.
func CheckConditions(ctx context.Context, s Store) error {
	if err := Check(ctx, s); err != nil {
		return err
	}

	key := "check-" + rand.Text()
	_, err := s.PutIf(ctx, key, []byte(rand.Text()), "")
	if err != nil {
		return fmt.Errorf("could not write an object on the condition that it is new: %w", err)
	}
	_, err = s.PutIf(ctx, key, []byte(rand.Text()), "")
	gone := s.Delete(ctx, key)
	if !errors.Is(err, ErrChanged) {
		return errors.New("the storage ignores conditions (If-None-Match): of two servers that take over at once both would win")
	}
	return gone
}

// hasContent reports whether an object has a content, and which version of it that is about.
func hasContent(ctx context.Context, s Store, key string, content []byte) (same bool, version string, err error) {
	body, found, err := s.Get(ctx, key)
	if err != nil {
		return false, "", err
	}
	defer body.Close()

	read, err := io.ReadAll(io.LimitReader(body, int64(len(content))+1))
	return bytes.Equal(read, content), found.Version, err
}
