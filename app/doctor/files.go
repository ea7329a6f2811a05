package doctor

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"

	"golang.org/x/sys/unix"

	"confab/app/config"
	"confab/app/datadir"
	"confab/app/replica"
	"confab/storage"
)

const (
	// With less free space than lowSpace there is a warning, with less than
	// criticalSpace an error: a purge or an upgrade needs room beside the database.
	lowSpace      = 1 << 30
	criticalSpace = 100 << 20
)

// privateFiles are the files that only their owner may read.
var privateFiles = []string{
	"confab.db", "confab.db-wal", "confab.db-shm", storage.MasterKeyFile, datadir.SandboxFile, datadir.SimulatorFile,
	datadir.EpochFile,
}

// checkDirectory checks that the data directory exists, is private and can be written.
// It also finds out whether a server runs on it, and whether it is a sandbox.
func (e *examination) checkDirectory() bool {
	dir := string(e.dir)
	info, statErr := os.Stat(dir)
	exists, err := e.dir.Exists()
	if err != nil {
		e.broken("data directory", "Check it as the user who runs confab: sudo -u USER confab doctor", "%v.", err)
		return false
	}
	e.isStandby = replica.IsStandby(dir)
	if statErr != nil || !exists && !e.isStandby {
		e.broken("data directory",
			"Check --data-dir and data_dir. Starting a server creates a new one; 'confab restore' creates one from a backup.",
			"There is no confab database in %s.", dir)
		return false
	}

	before := e.problems
	checkPrivate := func(path string, info fs.FileInfo) {
		if info.Mode().Perm()&0o077 != 0 {
			e.broken("permissions", "Run: chmod go= "+path, "Other users on this machine can read %s.", path)
		}
	}
	checkPrivate(dir, info)
	for _, name := range privateFiles {
		if info, err := os.Stat(e.dir.File(name)); err == nil && info.Mode().IsRegular() {
			checkPrivate(e.dir.File(name), info)
		}
	}

	if err := unix.Access(dir, unix.W_OK); err != nil {
		e.broken("permissions", "Make the user who runs confab its owner: chown -R USER "+dir, "%s cannot be written: %v.", dir, err)
		return false
	}
	if e.problems == before {
		e.ok("permissions", "%s is private and writable.", dir)
	}

	e.checkFileSystem()

	served, err := e.dir.IsServed()
	if err != nil {
		e.broken("data directory", "Make the user who runs confab the owner of its files: chown -R USER "+dir,
			"Could not tell whether a server is running: %v.", err)
		return false
	}
	e.served = served
	return e.readSandbox()
}

// readSandbox takes the settings of a sandbox from the file that it has written: they
// are nowhere else. It returns false if the file cannot be read.
func (e *examination) readSandbox() bool {
	text, err := os.ReadFile(e.dir.File(datadir.SandboxFile))
	if err != nil {
		return true
	}

	var left struct {
		BaseURL      string        `json:"base_url"`
		SimulatorURL string        `json:"simulator_url"`
		AppSecret    config.Secret `json:"app_secret"`
		VerifyToken  config.Secret `json:"verify_token"`
	}

	baseURL, fault := &url.URL{}, json.Unmarshal(text, &left)
	if fault == nil {
		baseURL, fault = url.Parse(left.BaseURL)
	}
	if fault != nil {
		e.broken("sandbox", "Remove it; the next 'confab sandbox' writes a new one.",
			"%s cannot be read: %v.", e.dir.File(datadir.SandboxFile), fault)
		return false
	}

	e.isSandbox = true
	e.config.Server = config.Server{Listen: baseURL.Host}
	e.config.Provider.BaseURL = left.SimulatorURL
	e.config.Provider.AppSecret = left.AppSecret
	e.config.Provider.VerifyToken = left.VerifyToken
	return true
}

// networkFileSystems are file systems on which the locks and the shared memory of
// SQLite do not work, by the type that statfs(2) returns.
var networkFileSystems = map[int64]string{0x6969: "NFS", 0xff534d42: "CIFS", 0x517b: "SMB", 0xfe534d42: "SMB", 0x01021997: "9p"}

func (e *examination) checkFileSystem() {
	var stat unix.Statfs_t
	if err := unix.Statfs(string(e.dir), &stat); err != nil {
		return // checkSpace reports it
	}

	if name, ok := networkFileSystems[int64(uint32(stat.Type))]; ok {
		e.broken("file system", "Move the data directory to a local disk.",
			"%s is on %s, where SQLite databases are not safe.", string(e.dir), name)
	}
}

func freeSpace(dir string) (uint64, error) {
	var stat unix.Statfs_t
	err := unix.Statfs(dir, &stat)
	return stat.Bavail * uint64(stat.Bsize), err
}

func (e *examination) checkSpace() {
	const advice = "Free up space, or move the data directory to a larger disk. " +
		"'confab purge --older-than 90d --dry-run' shows how much old data there is."

	free, err := e.Free(string(e.dir))
	switch {
	case err != nil:
		e.broken("disk space", "Check the disk.", "Could not read the free space: %v.", err)
	case free < criticalSpace:
		e.broken("disk space", advice, "%d MiB are free: writes are about to fail.", free>>20)
	case free < lowSpace:
		e.warn("disk space", advice, "%d MiB are free.", free>>20)
	default:
		e.ok("disk space", "%d GiB are free.", free>>30)
	}
}

// checkMasterKey checks that there is a master key. checkDatabase says whether it is the right one.
func (e *examination) checkMasterKey() {
	_, err := storage.ReadMasterKey(string(e.dir), e.MasterKey)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.broken("master key", "Restore master.key from a backup, or set CONFAB_MASTER_KEY. "+
			"Without it, tokens and secrets are lost: reconnect the numbers.",
			"%s is missing, and CONFAB_MASTER_KEY is not set.", e.dir.File(storage.MasterKeyFile))
	case err != nil:
		e.broken("master key", "Restore the right key from a backup.", "%v.", err)
	default:
		e.ok("master key", "The master key is present. Keep a copy elsewhere.")
	}
}
