package servers

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"

	"github.com/dgraph-io/badger/v4"
	"github.com/valyala/fasthttp"
)

// floorBadger commits the body of each POST and answers when it is durable. All requests that
// arrive during a commit share the next one, which is the simplest group commit.
type floorBadger struct{ dir string }

func (*floorBadger) About() string { return "bare github.com/dgraph-io/badger, a group commit on disk" }

func (f *floorBadger) Flags(flags *flag.FlagSet) {
	flags.StringVar(&f.dir, "data", "", "keep the data in this `folder`; the default is a new one that is removed at the end")
}

// commit is a body that waits to be written to disk.
type commit struct {
	body []byte
	done chan error
}

// group is the maximum number of commits per write.
const group = 1024

var errEnded = errors.New("the server has ended")

func (f *floorBadger) Run(ctx context.Context, listen string, ready func(string)) error {
	dir := f.dir
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "floor-badger-"); err != nil {
			return fmt.Errorf("data folder: %w", err)
		}
		defer os.RemoveAll(dir)
	}
	db, err := badger.Open(badger.DefaultOptions(dir).WithSyncWrites(true).WithLogger(nil))
	if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	commits := make(chan commit, group)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		commitAll(ctx, db, commits)
	}()
	err = serveFast(ctx, listen, ready, func(c *fasthttp.RequestCtx) {
		if !c.IsPost() {
			c.SetStatusCode(fasthttp.StatusMethodNotAllowed)
			return
		}
		// The body is copied, because the store keeps the bytes and the server reuses its buffer.
		w := commit{slices.Clone(c.PostBody()), make(chan error, 1)}
		var err error
		select {
		case commits <- w:
			select {
			case err = <-w.done:
			case <-ended:
				err = errEnded
			}
		case <-ended:
			err = errEnded
		}
		if err != nil {
			c.Error(err.Error(), fasthttp.StatusInternalServerError)
			return
		}
		c.SetStatusCode(fasthttp.StatusNoContent)
	})
	stop()
	<-ended
	return errors.Join(err, db.Close())
}

// commitAll commits incoming bodies until ctx ends.
func commitAll(ctx context.Context, db *badger.DB, commits <-chan commit) {
	var next uint64
	for {
		var all []commit
		select {
		case c := <-commits:
			all = append(all, c)
		case <-ctx.Done():
			return
		}
		for n := len(commits); n > 0 && len(all) < group; n-- {
			all = append(all, <-commits)
		}
		err := db.Update(func(txn *badger.Txn) error {
			for _, c := range all {
				next++
				if err := txn.Set(binary.BigEndian.AppendUint64(nil, next), c.body); err != nil {
					return err
				}
			}
			return nil
		})
		for _, c := range all {
			c.done <- err
		}
	}
}
