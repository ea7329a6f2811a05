package storage_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"confab/storage"
	"confab/storage/storagetest"
)

// Some things only a process of its own can show: another user, another holder
// of a lock, a disk that is really full. TestMain turns the test binary into
// that process when the variable says so.
const childVariable = "CONFAB_STORAGE_TEST_CHILD"

func TestMain(m *testing.M) {
	act, ok := map[string]func(dir string) error{
		"open":      childOpen,
		"hold":      childHold,
		"full disk": childFullDisk,
		"full log":  childFullLog,
	}[os.Getenv(childVariable)]
	if !ok && slices.Contains(os.Args, "-test.fuzzworker") {
		os.Exit(m.Run()) // it is killed in the end, and could not tidy up
	}
	if !ok {
		code, err := run(m)
		if err != nil {
			fmt.Println(err)
		}
		os.Exit(code)
	}
	if err := act(os.Args[len(os.Args)-1]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("done")
}

// run runs the tests on files in memory, if there is such a place: the files are
// as real, but no test waits for a busy disk.
func run(m *testing.M) (code int, err error) {
	program, err := os.MkdirTemp("", "confab-storage-*")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(program)
	files := program
	var memory syscall.Statfs_t
	if err := syscall.Statfs("/dev/shm", &memory); err == nil && memory.Bavail*uint64(memory.Bsize) > 32<<20 {
		if dir, err := os.MkdirTemp("/dev/shm", "confab-storage-*"); err == nil {
			defer os.RemoveAll(dir)
			files = dir
		}
	}
	err = errors.Join(os.Chmod(program, 0o755), os.Chmod(files, 0o755), // for other users
		os.Setenv(programVariable, program), os.Setenv("TMPDIR", files))
	if err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// programVariable names a directory in which programs may lie; memory may not be.
const programVariable = "CONFAB_STORAGE_TEST_PROGRAM"

// newChild prepares a process that will do act on a data directory as the given
// user; 0 is our own.
func newChild(t *testing.T, act, data string, user uint32) *exec.Cmd {
	t.Helper()
	dir := os.Getenv(programVariable)
	program := filepath.Join(dir, "storage.test")
	if _, err := os.Stat(program); err != nil {
		self, err := os.Executable()
		check(t, err)
		copyFile(t, self, program)
		check(t, os.Chmod(program, 0o755))
		check(t, os.WriteFile(filepath.Join(dir, "schema.sql"), []byte(storagetest.Schema(t)), 0o644))
	}
	cmd := exec.Command(program, data)
	cmd.Env = append(os.Environ(), childVariable+"="+act)
	cmd.Dir = dir
	if user != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	}
	return cmd
}

// openDir is a data directory that other users can reach; t.TempDir is not.
func openDir(t *testing.T) string {
	t.Helper()
	data, err := os.MkdirTemp("", "data-*")
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(data) })
	check(t, os.Chmod(data, 0o755))
	return data
}

func childOptions(dir string) (storage.Options, error) {
	schema, err := os.ReadFile("schema.sql")
	if err != nil {
		return storage.Options{}, err
	}
	key, err := storage.LoadMasterKey(dir, "")
	return storage.Options{Path: storage.DatabaseFile(dir), Schema: string(schema), MasterKey: key, Readers: 1}, err
}

// childOpen waits for its input to end, opens the database and closes it.
func childOpen(dir string) error {
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	o, err := childOptions(dir)
	if err != nil {
		return err
	}
	db, err := storage.Open(o)
	if err != nil {
		return err
	}
	return db.Close()
}

// childHold takes the write lock, says so, and keeps it until it reads a
// name; then it stores an organization of that name.
func childHold(dir string) error {
	o, err := childOptions(dir)
	if err != nil {
		return err
	}
	db, err := storage.Open(o)
	if err != nil {
		return err
	}
	err = db.Update(context.Background(), func(tx *storage.Tx) error {
		fmt.Println("locked")
		name, err := bufio.NewReader(os.Stdin).ReadString('\n')
		if err != nil {
			return err
		}
		_, err = tx.InsertOrganization(&storage.Organization{Name: strings.TrimSpace(name), Plan: "free"})
		return err
	})
	return errors.Join(err, db.Close())
}

// childFullDisk mounts a small disk over dir, which no other process sees, and plays
// the story of a full disk on it.
func childFullDisk(dir string) error {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
		return fmt.Errorf("%w: %w", errNoMount, err)
	}
	o, err := childOptions(dir)
	if err != nil {
		return err
	}
	db, err := storage.Open(o)
	if err != nil {
		return err
	}
	ballast := filepath.Join(dir, "ballast")
	story := fullDisk{
		db: db,
		fill: func() error {
			err := os.WriteFile(ballast, make([]byte, 8<<20), 0o600)
			if !errors.Is(err, syscall.ENOSPC) {
				return fmt.Errorf("the disk would not fill: %v", err)
			}
			return nil
		},
		free: func() error { return os.Remove(ballast) },
	}
	return errors.Join(story.play(), db.Close())
}

// errNoMount means that this machine does not let us mount anything.
var errNoMount = errors.New("cannot mount")

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	check(t, err)
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	check(t, err)
	_, err = io.Copy(out, in)
	check(t, errors.Join(err, out.Close()))
}
