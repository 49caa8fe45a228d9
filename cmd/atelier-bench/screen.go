//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"
)

// status is the state of a run in progress, for people who watch it.
type status struct {
	Phase   string
	Elapsed time.Duration
	// Done is the elapsed part of the planned time, 0..1.
	Done float64
	// Numbers are shown in columns: a name and a value each.
	Numbers []number
	// P99 is the p99 latency in milliseconds; 0 for none. It is from the last second or, in a
	// workshop, from the measured time until now. It is plotted over time.
	P99 float64
}

type number struct{ name, value string }

// screen shows the progress of a run. On a terminal it redraws one screen. Elsewhere it writes a
// line every plainEvery and at the start of each phase. Its methods are safe for concurrent use.
type screen struct {
	program *tea.Program
	ended   sync.WaitGroup

	mu     sync.Mutex
	last   time.Time // guarded by mu: when the last plain line was written
	phase  string    // guarded by mu: the phase in that line
	closed bool      // guarded by mu
}

// plainEvery is the interval of lines if there is no terminal.
const plainEvery = 10 * time.Second

func newScreen(ctx context.Context) *screen {
	s := &screen{}
	if isTerminal(os.Stderr) {
		// The command handles keys and signals: Ctrl-C ends the load and still produces a report.
		s.program = tea.NewProgram(&picture{}, tea.WithContext(context.WithoutCancel(ctx)), tea.WithOutput(os.Stderr), tea.WithInput(nil), tea.WithoutSignalHandler())
		s.ended.Go(func() { _, _ = s.program.Run() })
	}
	return s
}

// show shows the state of a run.
func (s *screen) show(st status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if s.program != nil {
		s.program.Send(st)
		return
	}
	if st.Phase == s.phase && time.Since(s.last) < plainEvery {
		return
	}
	s.phase, s.last = st.Phase, time.Now()
	var b strings.Builder
	fmt.Fprintf(&b, "%5s  %-12s", st.Elapsed.Round(time.Second), st.Phase)
	for _, n := range st.Numbers {
		fmt.Fprintf(&b, "  %s %s", n.name, n.value)
	}
	fmt.Fprintln(os.Stderr, strings.TrimRight(b.String(), " "))
}

// close ends the display. On a terminal it clears the displayed text.
func (s *screen) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	if s.program != nil {
		s.program.Quit()
		s.ended.Wait()
	}
}

// picture is the text on the terminal.
type picture struct {
	status  status
	history []float64
	width   int
	over    bool
}

// Init implements tea.Model.
func (p *picture) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (p *picture) Update(m tea.Msg) (tea.Model, tea.Cmd) {
	switch m := m.(type) {
	case tea.WindowSizeMsg:
		p.width = m.Width
	case status:
		p.status = m
		if m.P99 > 0 {
			p.history = append(p.history, m.P99)
		}
	case tea.QuitMsg:
		p.over = true
		return p, tea.Quit
	}
	return p, nil
}

// View implements tea.Model.
func (p *picture) View() tea.View { return tea.NewView(p.draw()) }

const (
	bold, faint, plain = "\x1b[1m", "\x1b[2m", "\x1b[0m"
	narrowest, widest  = 40, 100
)

func (p *picture) draw() string {
	if p.over || p.status.Phase == "" {
		return ""
	}
	width := min(max(p.width, narrowest), widest)
	paint := func(style, text string) string {
		if !colours(os.Stderr) {
			return text
		}
		return style + text + plain
	}
	var b strings.Builder
	st := &p.status
	elapsed := st.Elapsed.Round(time.Second).String()
	fmt.Fprintf(&b, "%s%s\n", paint(bold, fmt.Sprintf("%-*s", width-len(elapsed), st.Phase)), elapsed)
	fmt.Fprintf(&b, "%s\n", bar(st.Done, width))
	per := max(width/24, 1)
	for i, n := range st.Numbers {
		fmt.Fprintf(&b, "%s %-11s", paint(faint, fmt.Sprintf("%-11s", n.name)), n.value)
		if (i+1)%per == 0 || i == len(st.Numbers)-1 {
			b.WriteByte('\n')
		}
	}
	if len(p.history) > 1 {
		fmt.Fprintf(&b, "%s %s\n", paint(faint, "p99        "), spark(p.history, width-14))
	}
	return b.String()
}

func bar(done float64, width int) string {
	percent := fmt.Sprintf(" %3.0f %%", done*100)
	room := width - len(percent)
	full := int(done * float64(room))
	return strings.Repeat("█", full) + strings.Repeat("░", room-full) + percent
}

// spark plots the last values, at most width of them, as a line of block characters. Their height
// is relative to the largest of these values.
func spark(values []float64, width int) string {
	if len(values) > width {
		values = values[len(values)-width:]
	}
	most := 0.0
	for _, v := range values {
		most = max(most, v)
	}
	var b strings.Builder
	for _, v := range values {
		b.WriteRune([]rune("▁▂▃▄▅▆▇█")[min(int(v/most*8), 7)])
	}
	return b.String()
}

// colours reports whether to use colours: on a terminal, unless NO_COLOR is set (no-color.org).
func colours(out *os.File) bool { return os.Getenv("NO_COLOR") == "" && isTerminal(out) }

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
