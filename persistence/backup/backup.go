package backup

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const (
	version     = 2
	firstLine   = "atelier-backup %d"
	sectionLine = "section "
	endLine     = "end"
	maxLine     = 128
)

// ErrNewer means that the backup was written by a newer version of the program.
var ErrNewer = errors.New("the backup was written by a newer program")

// Section is one part of a backup.
type Section struct {
	// Name is the section's name in the backup, in lower-case letters. It never changes.
	Name string
	// Folder is the section's folder below the data folder.
	Folder string
	// Hold, if set, is called before the first section is saved. Until release is called, this
	// section must remove no object to which an earlier section can refer.
	Hold func() (release func(), err error)
	// Save writes the content while the server keeps running.
	Save func(w io.Writer) error
	// Load creates dir, which does not exist yet, from the output of Save, and reads this output to
	// its end. When Load returns, dir is on disk.
	Load func(dir string, r io.Reader) error
	// Required means that a backup without this section is refused.
	Required bool

	// A section whose data is not a folder sets the following functions. Vacant replaces the check
	// that the folder is empty. Place activates the loaded data, instead of renaming the folder.
	// Once Vacant has succeeded, Discard is called at the end of the restore, even if the restore
	// fails.
	Vacant, Discard func() error
	Place           func(dir string) error
}

// Write writes a backup. The backup is complete only if Write returns nil. The caller should sync w
// before relying on the backup.
func Write(w io.Writer, sections ...Section) error {
	for _, s := range sections {
		if s.Hold == nil {
			continue
		}
		release, err := s.Hold()
		if err != nil {
			return fmt.Errorf("back up %s: %w", s.Name, err)
		}
		defer release()
	}
	out := bufio.NewWriterSize(w, 64<<10)
	fmt.Fprintf(out, firstLine+"\n", version)
	return writeSections(out, sections)
}

// Append adds sections to a complete backup in a file that is open for reading and writing. After a
// failure the backup is incomplete.
func Append(f *os.File, sections ...Section) error {
	const end = endLine + "\n"
	tail := make([]byte, len(end))
	size, err := f.Seek(-int64(len(end)), io.SeekEnd)
	if err == nil {
		_, err = f.ReadAt(tail, size)
	}
	if err != nil || string(tail) != end {
		return fmt.Errorf("%w: the end line is missing", ErrDamaged)
	}
	return writeSections(bufio.NewWriterSize(f, 64<<10), sections)
}

func writeSections(out *bufio.Writer, sections []Section) error {
	for _, s := range sections {
		fmt.Fprintf(out, "%s%s\n", sectionLine, s.Name)
		frames := NewFrameWriter(out)
		if err := s.Save(frames); err != nil {
			return fmt.Errorf("back up %s: %w", s.Name, err)
		}
		if err := frames.Finish(); err != nil {
			return fmt.Errorf("back up %s: %w", s.Name, err)
		}
	}
	fmt.Fprintln(out, endLine)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	return nil
}

// Restore creates the section folders in the data folder. Each section folder must be missing or
// empty, unless the section has its own Vacant and Place. Sections that are not required can be
// missing from the backup.
func Restore(data string, r io.Reader, sections ...Section) (err error) {
	for _, s := range sections {
		if s.Vacant == nil {
			s.Vacant = func() error { return CheckVacant(filepath.Join(data, s.Folder)) }
		}
		if err := s.Vacant(); err != nil {
			return err
		}
		if s.Discard != nil {
			defer func() { err = errors.Join(err, s.Discard()) }()
		}
	}
	temp, err := os.MkdirTemp(data, ".restore-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	loaded, err := load(temp, bufio.NewReaderSize(r, 64<<10), sections)
	if err != nil {
		return err
	}
	// The first section refers to the others. Restore puts it in place last, so that an interrupted
	// restore leaves no references to missing data.
	for i := len(loaded) - 1; i >= 0; i-- {
		s := loaded[i]
		if s.Place == nil {
			s.Place = func(dir string) error { return PutInPlace(dir, filepath.Join(data, s.Folder)) }
		}
		if err := s.Place(filepath.Join(temp, s.Folder)); err != nil {
			return err
		}
	}
	return nil
}

// checkRequired returns an error if a required section was not loaded.
func checkRequired(known, loaded []Section) error {
	for _, s := range known {
		if s.Required && find(loaded, s.Name) == nil {
			return fmt.Errorf("the backup does not contain %s", s.Name)
		}
	}
	return nil
}

// load reads all sections into folders below temp and returns them in the order of the backup.
func load(temp string, in *bufio.Reader, known []Section) ([]Section, error) {
	first, err := in.Peek(len("atelier-backup 1 "))
	if err == nil && string(first) == "atelier-backup 1 " {
		s := find(known, "store")
		if s == nil {
			return nil, ErrNewer
		}
		loaded := []Section{*s}
		if err := checkRequired(known, loaded); err != nil {
			return nil, err
		}
		return loaded, s.Load(filepath.Join(temp, s.Folder), in)
	}
	if err := readFirstLine(in); err != nil {
		return nil, err
	}
	var loaded []Section
	for {
		line, err := readLine(in)
		if err != nil {
			return nil, err
		}
		if line == endLine {
			if _, err := in.ReadByte(); err != io.EOF {
				return nil, fmt.Errorf("%w: data follows the end line", ErrDamaged)
			}
			return loaded, checkRequired(known, loaded)
		}
		name, ok := strings.CutPrefix(line, sectionLine)
		if !ok || find(loaded, name) != nil {
			return nil, fmt.Errorf("%w: expected the beginning of a section", ErrDamaged)
		}
		s := find(known, name)
		if s == nil {
			return nil, fmt.Errorf("%w: unknown section %q", ErrNewer, name)
		}
		frames := NewFrameReader(in)
		if err := s.Load(filepath.Join(temp, s.Folder), frames); err != nil {
			return nil, fmt.Errorf("restore %s: %w", name, err)
		}
		// The end of the frames proves that the section is complete.
		if n, err := io.Copy(io.Discard, frames); err != nil || n > 0 {
			return nil, errors.Join(fmt.Errorf("%w: %d extra bytes after %s", ErrDamaged, n, name), err)
		}
		loaded = append(loaded, *s)
	}
}

func find(sections []Section, name string) *Section {
	for i := range sections {
		if sections[i].Name == name {
			return &sections[i]
		}
	}
	return nil
}

func readFirstLine(in *bufio.Reader) error {
	line, err := readLine(in)
	if err != nil {
		return err
	}
	var v int
	if _, err := fmt.Sscanf(line, firstLine, &v); err != nil {
		return fmt.Errorf("%w: no header", ErrDamaged)
	}
	if v > version {
		return fmt.Errorf("%w: the backup has version %d, this program reads %d", ErrNewer, v, version)
	}
	if line != fmt.Sprintf(firstLine, version) {
		return fmt.Errorf("%w: no header", ErrDamaged)
	}
	return nil
}

func readLine(in *bufio.Reader) (string, error) {
	line, err := in.ReadSlice('\n')
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return "", err
	}
	if err != nil || len(line) > maxLine {
		return "", fmt.Errorf("%w: the backup ends early", ErrDamaged)
	}
	return string(line[:len(line)-1]), nil
}
