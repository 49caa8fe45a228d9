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

func (v *visit) descriptors(ctx context.Context) Finding {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return bad("", "the limit of open files cannot be read: %v", err)
	}
	may, whose := limit.Max, "a program started from here" // the server raises its limit to this maximum
	if n, err := v.metric(ctx, "process_max_fds"); err == nil {
		may, whose = uint64(n), "the running server"
	}
	return Descriptors(may, whose, v.People)
}

// metric reads a value from the metrics of the running server.
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

func (v *visit) memory(context.Context) Finding {
	has, err := MachineMemory()
	if err != nil {
		return fine("the amount of memory cannot be determined here (%v)", err)
	}
	return Memory(has, v.People)
}

// The number of writes, and the size of each in bytes.
const (
	syncs    = 32
	syncSize = 4096
)

func (v *visit) disk(context.Context) Finding {
	took, err := timeSyncs(v.Data)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return bad("start the server once, or name the folder with --data", "there is no folder %s", v.Data)
	case err != nil:
		return bad("run this as the server's user", "the disk cannot be tested: %v", err)
	}
	return Sync(took)
}

// timeSyncs returns the median time that several writes take to be durable.
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

func (v *visit) space(context.Context) Finding {
	free, err := ondisk.FreeBytes(v.Data)
	if err != nil {
		return bad("start the server once, or name the folder with --data", "%v", err)
	}
	return Space(free, v.MinFree, v.People)
}

func (v *visit) clock(context.Context) Finding {
	state, err := clockState()
	switch {
	case err != nil:
		return fine("the synchronization of the clock cannot be determined here (%v)", err)
	case state == clockError:
		return bad("timedatectl set-ntp true, or systemctl enable --now systemd-timesyncd", "the clock is not synchronized: times in chats and certificates, and the expiry of tokens, can be wrong")
	}
	return fine("the clock is synchronized")
}

// Backup is a data folder's record of the last backup.
type Backup struct {
	At    time.Time `json:"at"`
	File  string    `json:"file"`
	Bytes int64     `json:"bytes"`
}

// Note records in a data folder that a backup was made. It returns an error if this process cannot
// write to the folder, for example because the folder belongs to another user.
func Note(data string, b Backup) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return ondisk.Replace(filepath.Join(data, lastBackup), text)
}

func (v *visit) backup(context.Context) Finding {
	_, f := LastBackup(v.Data, v.BackupAge, v.Now())
	return f
}
