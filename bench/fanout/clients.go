package fanout

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"atelier/bench/broadcast"
)

// Clients contains the values of clients. A value can be a credential, so errors contain no values.
type Clients struct {
	// Columns contains the names of the values.
	Columns []string
	// Each row of Rows contains the values of one client, in the order of the columns. Lines
	// contains the rows' line numbers in the file, from 1.
	Rows  [][]string
	Lines []int
}

// Limits of a file with clients: bytes of the file, of a client's lines and of a value, and the
// number of columns.
const (
	maxClients = 64 << 20
	maxLine    = 1 << 20
	maxValue   = 64<<10 - 1
	maxColumns = 100
)

// column matches the permitted names of columns.
var column = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// ReadClients reads count clients from a CSV file (RFC 4180, UTF-8) with a header line. Further
// lines are ignored.
func ReadClients(path string, count int) (*Clients, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--clients: %w", err)
	}
	defer f.Close()
	c, err := parseClients(f, count)
	if err != nil {
		return nil, fmt.Errorf("--clients %s: %w", path, err)
	}
	return c, nil
}

// bounded limits the bytes that are read for each client and in total. A line of only commas would
// take sixteen times its length in memory.
type bounded struct {
	from       io.Reader
	line, file int // remaining bytes
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	switch {
	case b.file == 0:
		return 0, fmt.Errorf("the clients that are needed take more than %d MiB", maxClients>>20)
	case b.line == 0:
		return 0, fmt.Errorf("longer than %d MiB", maxLine>>20)
	}
	n, err := b.from.Read(p[:min(len(p), b.line, b.file)])
	b.line, b.file = b.line-n, b.file-n
	return n, err
}

func parseClients(from io.Reader, count int) (*Clients, error) {
	bound := &bounded{from: from, line: maxLine, file: maxClients}
	text := bufio.NewReader(bound)
	if mark, _ := text.Peek(3); string(mark) == "\ufeff" {
		_, _ = text.Discard(3)
	}
	in := csv.NewReader(text)
	in.FieldsPerRecord = -1 // checkRow reports the numbers
	head, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty: want a header line and a line for each client")
	}
	if err != nil {
		return nil, fmt.Errorf("header line: %w", err)
	}
	c := &Clients{Columns: head}
	if err := c.checkColumns(); err != nil {
		return nil, err
	}
	for len(c.Rows) < count {
		bound.line = maxLine
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("the run has %d clients, but the file has lines for %d", count, len(c.Rows))
		}
		if err != nil {
			return nil, fmt.Errorf("client %d: %w", len(c.Rows)+1, err)
		}
		line, _ := in.FieldPos(0)
		if err := c.checkRow(row); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		c.Rows, c.Lines = append(c.Rows, row), append(c.Lines, line)
	}
	return c, nil
}

func (c *Clients) checkColumns() error {
	if len(c.Columns) > maxColumns {
		return fmt.Errorf("there are %d columns, want at most %d", len(c.Columns), maxColumns)
	}
	for i, name := range c.Columns {
		switch {
		case !column.MatchString(name):
			return fmt.Errorf("column %d has the name %.64q: want letters, digits, '_', '-' and '.', at most 64", i+1, name)
		case slices.Contains(broadcast.Reserved, name):
			return fmt.Errorf("column %d has the name %q, which is reserved, as are %s", i+1, name, strings.Join(broadcast.Reserved, ", "))
		case slices.Contains(c.Columns[:i], name):
			return fmt.Errorf("duplicate column %q", name)
		}
	}
	return nil
}

func (c *Clients) checkRow(row []string) error {
	if len(row) != len(c.Columns) {
		return fmt.Errorf("want %d cells, have %d", len(c.Columns), len(row))
	}
	for i, value := range row {
		switch {
		case value == "":
			return fmt.Errorf("%s is empty", c.Columns[i])
		case len(value) > maxValue:
			return fmt.Errorf("%s has %d bytes, want at most %d", c.Columns[i], len(value), maxValue)
		case !utf8.ValidString(value) || strings.Contains(value, "\x00"):
			return fmt.Errorf("%s has a NUL byte or is not UTF-8", c.Columns[i])
		}
	}
	return nil
}

// checkHeader refuses values that would end the line of a header.
func (c *Clients) checkHeader(header string) error {
	for _, name := range broadcast.ParseTemplate(header).Places() {
		i := slices.Index(c.Columns, name)
		for n, row := range c.Rows {
			if i >= 0 && strings.ContainsAny(row[i], "\r\n") {
				return fmt.Errorf("--clients: line %d: %s has a line break, which a header must not have", c.Lines[n], name)
			}
		}
	}
	return nil
}

// url returns an address with the values of a client filled in, each as a single segment of the
// path or part of the query. Without clients, the address is returned unchanged.
func (c *Clients) url(text string, n int) string {
	if c == nil {
		return text
	}
	values := c.values(n)
	for name, value := range values {
		values[name] = broadcast.Escape(value)
	}
	return broadcast.ParseTemplate(text).Fill(values).String()
}

// With returns clients with one more column, computed from the others.
func (c *Clients) With(column string, value func(of map[string]string) string) *Clients {
	out := &Clients{Columns: append(slices.Clone(c.Columns), column), Lines: c.Lines}
	for n, row := range c.Rows {
		out.Rows = append(out.Rows, append(slices.Clone(row), value(c.values(n))))
	}
	return out
}

// values returns the values of a client, keyed by column.
func (c *Clients) values(n int) map[string]string {
	out := make(map[string]string, len(c.Columns))
	for i, name := range c.Columns {
		out[name] = c.Rows[n][i]
	}
	return out
}

// row returns the values of a client; nil if there are none.
func (c *Clients) row(n int) []broadcast.Raw {
	if c == nil {
		return nil
	}
	var out []broadcast.Raw
	for _, value := range c.Rows[n] {
		out = append(out, broadcast.Raw(value))
	}
	return out
}

// secrets returns all values, without duplicates.
func (c *Clients) secrets() []string {
	if c == nil {
		return nil
	}
	all := slices.Concat(c.Rows...)
	slices.Sort(all)
	return slices.Compact(all)
}
