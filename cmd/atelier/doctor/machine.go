package doctor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"atelier/persistence/ondisk"
)

// A server has each person's socket open, and of some a second connection for
// pages and files.
const (
	perPerson      = 2
	ownDescriptors = 1000
)

func (v *visit) descriptors(ctx context.Context) Finding {
	need := uint64(perPerson*v.People + ownDescriptors)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return bad("", "the limit of open files cannot be read: %v", err)
	}
	may, whose := limit.Max, "a program started from here" // it raises its own limit to that
	if n, err := v.metric(ctx, "process_max_fds"); err == nil {
		may, whose = uint64(n), "the running server"
	}
	if may < need {
		return bad("LimitNOFILE=65536 in atelier.service, or ulimit -n 65536 before the start", "%s may open %d files, and %d people need %d", whose, may, v.People, need)
	}
	return fine("%s may open %d files; %d people need %d", whose, may, v.People, need)
}

// metric reads a value of the running server.
func (v *visit) metric(ctx context.Context, name string) (float64, error) {
	if v.Metrics == "" {
		return 0, errors.New("the server's metrics are off")
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+v.Metrics+"/metrics", http.NoBody)
	if err != nil {
		return 0, err
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(io.LimitReader(res.Body, 8<<20))
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("there is no %s", name)
}

// What is written between two answers of the disk, and how often it is tried.
const (
	syncs    = 32
	syncSize = 4096
	// slowSync is where people begin to feel it: each message waits for one.
	slowSync = 20 * time.Millisecond
)

func (v *visit) disk(context.Context) Finding {
	took, err := timeSyncs(v.Data)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return bad("start the server once, or name the folder with --data", "there is no folder %s", v.Data)
	case err != nil:
		return bad("run this as the server's user", "the disk cannot be tried: %v", err)
	case took > slowSync:
		return bad("keep the data folder on a local SSD, not on a network disk", "a write is on the disk after %s: each message waits that long", round(took))
	}
	return fine("a write is on the disk after %s", round(took))
}

// timeSyncs returns how long the disk takes until what was written is on it,
// the middle of several.
func timeSyncs(dir string) (time.Duration, error) {
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return 0, err
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}()
	took := make([]time.Duration, 0, syncs)
	for range syncs {
		begin := time.Now()
		if _, err := f.Write(make([]byte, syncSize)); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }

// A day with many people writes and hands in this much, bytes.
const (
	perDay   = 4 << 30
	handedIn = 10 << 20
	gigabyte = 1 << 30
)

func (v *visit) space(context.Context) Finding {
	free, err := ondisk.FreeBytes(v.Data)
	if err != nil {
		return bad("start the server once, or name the folder with --data", "%v", err)
	}
	need := v.MinFree + perDay + uint64(v.People)*handedIn
	if free < need {
		return bad("make room, or put the data folder on a larger disk; the server stops taking writes at storage.min_free_mib",
			"%.1f GB are free, and a day with %d people may need %.1f", gb(free), v.People, gb(need))
	}
	return fine("%.1f GB are free; a day with %d people needs %.1f at most", gb(free), v.People, gb(need))
}

func gb(bytes uint64) float64 { return float64(bytes) / gigabyte }

func (v *visit) clock(context.Context) Finding {
	state, err := clockState()
	switch {
	case err != nil:
		return fine("whether the clock is set by others cannot be seen here (%v)", err)
	case state == clockError:
		return bad("timedatectl set-ntp true, or systemctl enable --now systemd-timesyncd", "nothing sets the clock: times in chats and certificates, and when tokens end, may be wrong")
	}
	return fine("the clock is set by others")
}

// LastBackup is the file of the data folder that says when the last backup was
// made, and where.
const LastBackup = "backup.last"

// Backup is what it says.
type Backup struct {
	At    time.Time `json:"at"`
	File  string    `json:"file"`
	Bytes int64     `json:"bytes"`
}

// Note writes in a data folder that a backup was made. The folder may be
// another user's: then nothing is written.
func Note(data string, b Backup) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return ondisk.Replace(filepath.Join(data, LastBackup), text)
}

func (v *visit) backup(context.Context) Finding {
	const remedy = "atelier backup FILE each night: deploy/atelier-backup.timer does it"
	text, err := os.ReadFile(filepath.Join(v.Data, LastBackup))
	if errors.Is(err, fs.ErrNotExist) {
		return bad(remedy, "there has been no backup")
	}
	var b Backup
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	if err != nil {
		return bad(remedy, "when the last backup was made cannot be read: %v", err)
	}
	age := v.Now().Sub(b.At)
	info, err := os.Stat(b.File)
	switch {
	case age > v.BackupAge:
		return bad(remedy, "the last backup is %s old", hours(age))
	case errors.Is(err, fs.ErrNotExist):
		return fine("the last one was made %s ago, and is no longer at %s", hours(age), b.File)
	case err == nil && info.Size() != b.Bytes:
		return bad("make another one", "the last backup, %s, has %d bytes, and had %d when it was made", b.File, info.Size(), b.Bytes)
	}
	return fine("the last one was made %s ago: %s, %.1f MB", hours(age), b.File, float64(b.Bytes)/(1<<20))
}

func hours(d time.Duration) string {
	switch h := d.Hours(); {
	case h < 1:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case h < 48:
		return fmt.Sprintf("%d h", int(h))
	default:
		return fmt.Sprintf("%d days", int(h/24))
	}
}
