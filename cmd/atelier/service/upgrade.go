package service

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"atelier/cmd/atelier/config"
	"atelier/persistence/badger"
	"atelier/persistence/layout"
	"atelier/persistence/postgres"
)

// FormatOf returns the data format of a stopped server, or 0 if there is no data, and the format to
// which this program would convert it. It changes nothing. Data that was not closed properly can be
// read only by a start, so FormatOf returns an error for it.
func FormatOf(cfg config.Config) (found, writes int, err error) {
	switch {
	case cfg.Storage.Backend == config.Postgres:
		found, err = postgres.FormatOf(string(cfg.Storage.Postgres))
		return found, postgres.Format, err
	case cfg.Storage.Backend == config.Memory || !HasData(cfg) && !badger.Marked(StoreDir(cfg)):
		return 0, badger.Format, nil
	case !HasData(cfg):
		return 0, badger.Format, fmt.Errorf("%s is missing, but its mark exists: is its disk mounted?", StoreDir(cfg))
	}
	found, err = badger.FormatOf(badgerOptions(cfg))
	return found, badger.Format, err
}

// FormatOfRunning is like FormatOf, for a running server. It reads the beginning of the server's
// backup. With PostgreSQL it asks the database.
func FormatOfRunning(cfg config.Config, backup func(io.Writer) error) (found, writes int, err error) {
	if cfg.Storage.Backend == config.Postgres {
		return FormatOf(cfg)
	}
	var b beginning
	err = backup(&b)
	found, ok := layout.FormatIn(b.bytes)
	if ok {
		return found, badger.Format, nil
	}
	if err == nil || errors.Is(err, errEnough) {
		err = errors.New("the server's backup does not contain the format of the data")
	}
	return 0, badger.Format, err
}

// beginning stores the first bytes that are written, and refuses the rest.
type beginning struct{ bytes []byte }

var errEnough = errors.New("enough bytes of the backup were read")

func (b *beginning) Write(p []byte) (int, error) {
	const most = 4 << 10
	b.bytes = append(b.bytes, p[:min(len(p), most)]...)
	if len(b.bytes) >= most {
		return 0, errEnough
	}
	return len(p), nil
}

// sampled is the number of bytes of the store that are read to estimate the time for the whole
// store.
const sampled = 256 << 20

// StoreReadTime returns the size of the tables of a store on disk, and estimates how long it takes
// to read them by reading some. Each start reads all tables to verify them. For other stores, and
// without a store, it returns 0.
func StoreReadTime(cfg config.Config) (size int64, takes time.Duration, err error) {
	if cfg.Storage.Backend != config.Badger || !HasData(cfg) {
		return 0, 0, nil
	}
	began, read := time.Now(), int64(0)
	err = filepath.WalkDir(StoreDir(cfg), func(path string, _ fs.DirEntry, err error) error {
		// Only tables are read, because other files are mostly holes.
		if err != nil || filepath.Ext(path) != ".sst" {
			return err
		}
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a running server has replaced it
		}
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		if size += info.Size(); read >= sampled {
			return nil
		}
		n, err := io.Copy(io.Discard, io.LimitReader(f, sampled-read))
		read += n
		return err
	})
	if read > 0 {
		takes = time.Duration(float64(time.Since(began)) * float64(size) / float64(read))
	}
	return size, takes, err
}
