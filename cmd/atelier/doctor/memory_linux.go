package doctor

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// MachineMemory returns the memory of this machine in bytes, or a smaller limit of the container or
// systemd unit.
func MachineMemory() (uint64, error) {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0, err
	}
	all := info.Totalram * uint64(info.Unit)
	return min(all, limitOf("/proc/self/cgroup", "/sys/fs/cgroup", all)), nil
}

// limitOf returns the smallest memory.max (cgroups, version 2) of the group in self and its
// ancestors, or most if that is smaller.
func limitOf(self, root string, most uint64) uint64 {
	text, err := os.ReadFile(self)
	if err != nil {
		return most
	}
	for line := range strings.Lines(string(text)) {
		path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok {
			continue
		}
		for at := filepath.Clean("/" + path); ; at = filepath.Dir(at) {
			if value, err := os.ReadFile(filepath.Join(root, at, "memory.max")); err == nil {
				// "max" is not a number.
				if n, err := strconv.ParseUint(strings.TrimSpace(string(value)), 10, 64); err == nil {
					most = min(most, n)
				}
			}
			if at == "/" {
				break
			}
		}
	}
	return most
}
