package powercut

import (
	"cmp"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"atelier/persistence/powercut"
)

// dataIn is the server's data folder on a disk. The server creates it.
func dataIn(disk string) string { return filepath.Join(disk, "data") }

// objectsBeside returns the folder of shared objects next to a data folder. The operator creates it
// before the start.
func objectsBeside(data string) string { return filepath.Join(filepath.Dir(data), "objects") }

// newDisk mounts a disk for a server.
func newDisk(p *program, at string) (*powercut.Disk, error) {
	disk, err := powercut.Mount(at)
	if err != nil || !p.shared {
		return disk, err
	}
	err = os.Mkdir(objectsBeside(dataIn(at)), 0o700)
	if err == nil {
		var root *os.File
		if root, err = os.Open(at); err == nil {
			err = errors.Join(root.Sync(), root.Close())
		}
	}
	if err != nil {
		return nil, errors.Join(err, disk.Unmount())
	}
	return disk, nil
}

// sessions is the number of starts while a trace is recorded. Each session ends with a shutdown or a
// kill. A start flushes the memtable.
const sessions = 6

// recordTrace runs a server under load on a disk and returns the trace of that disk.
func recordTrace(p *program, at string, seed uint64) (powercut.Trace, *load, error) {
	disk, err := newDisk(p, at)
	if err != nil {
		return nil, nil, err
	}
	defer disk.Unmount()
	l := newLoad(disk, seed)
	for i := range sessions {
		if l.server, err = p.start(dataIn(at)); err != nil {
			return nil, nil, err
		}
		l.each()
		l.run(60)
		if i == 1 {
			if err := p.rotateKeys(dataIn(at)); err != nil {
				return nil, nil, err
			}
		}
		if i%2 == 0 {
			l.stop()
		} else {
			l.kill()
		}
	}
	return disk.Trace(), l, nil
}

func sortedPlaces(seen map[place]int) []place {
	return slices.SortedFunc(maps.Keys(seen), func(a, b place) int {
		return cmp.Or(strings.Compare(a.file, b.file), cmp.Compare(a.call, b.call))
	})
}

func sortedNames(counts map[string]int) []string { return slices.Sorted(maps.Keys(counts)) }

func isRefusal(err error) bool {
	var r refusal
	return errors.As(err, &r)
}
