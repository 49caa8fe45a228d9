//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"atelier/bench/report"
	"atelier/bench/server"
	"atelier/cmd/internal/process"
)

// outputFlags select the outputs for a result, and its thresholds.
type outputFlags struct {
	Threshold []string      `placeholder:"EXPR" sep:"none" group:"Result" help:"Fail unless the report meets this condition, such as 'p99<50ms' or 'deliveries_per_second>=1000000'; names are those of the JSON report. Repeatable."`
	MaxLag    time.Duration `default:"10ms" group:"Result" help:"Maximum p99 of the generator's own lag; above it the run is invalid."`
	MaxBusy   float64       `default:"97" placeholder:"PERCENT" group:"Result" help:"Maximum share of time that a socket loop of the generator works; above it the run is invalid."`
	AllowLag  bool          `group:"Result" help:"Accept a run whose generator was late."`

	CPUProfile string `name:"cpu-profile" type:"path" placeholder:"FILE" group:"Result" help:"Write the generator's processor profile, for 'go tool pprof'."`

	JSON  string `name:"json" type:"path" placeholder:"FILE" group:"Result" help:"Write the report as JSON; 'atelier-bench schema' prints its JSON Schema."`
	CSV   string `name:"csv" type:"path" placeholder:"FILE" group:"Result" help:"Write the timeline of the run as CSV, one row per second."`
	HTML  string `name:"html" type:"path" placeholder:"FILE" group:"Result" help:"Write a self-contained page with plots."`
	JUnit string `name:"junit" type:"path" placeholder:"FILE" group:"Result" help:"Write the verdict as JUnit XML for CI pipelines: the run and each threshold are cases."`
	HDR   string `name:"hdr" type:"path" placeholder:"FILE" group:"Result" help:"Write an HDR log with a histogram per second."`
}

// check validates the flags. names are the names in the report of the scenario.
func (o *outputFlags) check(names report.Names) error {
	limits, err := o.limits()
	if err == nil {
		err = names.Check(limits.Thresholds)
	}
	if o.MaxBusy < 0 || o.MaxBusy > 100 {
		err = errors.Join(err, errors.New("--max-busy must be a percentage, from 0 to 100"))
	}
	return errors.Join(err, checkFiles([]file{{"json", o.JSON}, {"csv", o.CSV}, {"html", o.HTML}, {"junit", o.JUnit}, {"hdr", o.HDR}, {"cpu-profile", o.CPUProfile}}))
}

func (o *outputFlags) limits() (*report.Limits, error) {
	l := &report.Limits{MaxLag: o.MaxLag, MaxBusy: o.MaxBusy / 100, AllowLag: o.AllowLag}
	var problems []error
	for _, text := range o.Threshold {
		t, err := report.ParseThreshold(text)
		l.Thresholds, problems = append(l.Thresholds, t), append(problems, err)
	}
	return l, errors.Join(problems...)
}

// judge adds the command and the environment to a result, and judges it.
func (o *outputFlags) judge(r *report.Result, environment map[string]string) error {
	limits, err := o.limits()
	if err != nil {
		return err
	}
	r.Command, r.Environment = commandLine(os.Args), environment
	return r.Judge(limits)
}

// write outputs a judged result. It returns an error if an output cannot be written. Otherwise its
// error is the exit code, if that is not 0.
func (o *outputFlags) write(r *report.Result) error {
	err := r.Text(os.Stdout, report.Style{Colour: colours(os.Stdout)})
	for _, file := range []struct {
		path  string
		write func(string) error
	}{{o.JSON, r.WriteJSON}, {o.CSV, r.WriteCSV}, {o.HTML, r.WriteHTML}, {o.JUnit, r.WriteJUnit}, {o.HDR, r.WriteHDR}} {
		if file.path == "" {
			continue
		}
		// A file that cannot be written does not affect the others.
		err = errors.Join(err, file.write(file.path))
	}
	if err != nil {
		return err
	}
	if code := r.ExitCode(); code != report.ExitPassed {
		return exitCode(code)
	}
	return nil
}

// hold runs a scenario against its server, then judges and writes the result.
func hold(ctx context.Context, s *serverFlags, o *outputFlags, env []string, scenario func(*bench) (*report.Result, error)) error {
	if err := raiseFileLimit(); err != nil {
		return err
	}
	around := s.environment() // before the load, which changes the machine's load
	t, done, err := s.target(ctx, env)
	if err != nil {
		return err
	}
	screen := newScreen(ctx)
	result, err := o.profiled(func() (*report.Result, error) { return scenario(&bench{Target: t, screen: screen}) })
	screen.close()
	deaths := died(t)
	if result != nil {
		result.Faults = append(result.Faults, deaths...)
	} else if len(deaths) > 0 {
		err = errors.Join(err, errors.New(strings.Join(deaths, "\n")))
	}
	if err == nil {
		err = o.judge(result, around)
	}
	failed := err != nil || result.ExitCode() == report.ExitFailed
	// After a failure, the data and log of the server are kept for analysis.
	stopped := done(s.Keep || failed)
	if err != nil {
		return err
	}
	if stopped != nil {
		fmt.Fprintln(os.Stderr, "atelier-bench:", stopped) // the result is complete, so it is still written
	}
	if err := o.write(result); err != nil || stopped == nil {
		return err
	}
	return exitCode(exitBroken)
}

// runOther runs a scenario against a server other than Atelier, then judges and writes the result.
func runOther(ctx context.Context, s *serverFlags, o *outputFlags, scenario func(*screen) (*report.Result, error)) error {
	if err := raiseFileLimit(); err != nil {
		return err
	}
	around := s.environment()
	screen := newScreen(ctx)
	result, err := o.profiled(func() (*report.Result, error) { return scenario(screen) })
	screen.close()
	if err == nil {
		err = o.judge(result, around)
	}
	if err != nil {
		return err
	}
	return o.write(result)
}

// died returns a sentence for each of the run's own servers that ended unexpectedly. The load
// continues when a server ends, so the results of such a run are useless.
func died(t *server.Target) (faults []string) {
	for _, n := range t.Nodes() {
		if n.Process == nil {
			continue
		}
		if at, how := n.Process.Died(); !at.IsZero() {
			faults = append(faults, fmt.Sprintf("the server %sended on its own at %s, %v; its log is kept", within(n.Name), at.Format("15:04:05.0"), how))
		}
	}
	return faults
}

// within returns a node's name with a space after it, for a sentence. It returns "" for "".
func within(name string) string {
	if name != "" {
		name += " "
	}
	return name
}

// profiled runs a scenario, and records a profile of the generator if requested.
func (o *outputFlags) profiled(scenario func() (*report.Result, error)) (*report.Result, error) {
	if o.CPUProfile == "" {
		return scenario()
	}
	f, err := os.Create(o.CPUProfile)
	if err != nil {
		return nil, fmt.Errorf("--cpu-profile: %w", err)
	}
	defer f.Close()
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, fmt.Errorf("--cpu-profile: %w", err)
	}
	defer pprof.StopCPUProfile()
	return scenario()
}

// secrets are flags whose values are masked in the report. Only the name of a --header remains.
var secrets = []string{"--admin-pw", "--secret", "--header", "--hello", "--send", "--answer", "--resume", "--body"}

// addresses are flags whose values can contain a secret: a password, or the parameters of a
// query.
var addresses = []string{"--url", "--internal-url", "--publish", "--postgres"}

// commandLine returns the command as it was given, without secrets and without the path of this
// program.
func commandLine(args []string) []string {
	out := slices.Clone(args)
	out[0] = filepath.Base(out[0])
	for i, arg := range out {
		for _, flag := range slices.Concat(secrets, addresses) {
			switch {
			case strings.HasPrefix(arg, flag+"="):
				out[i] = flag + "=" + hidden(flag, strings.TrimPrefix(arg, flag+"="))
			case i > 0 && args[i-1] == flag:
				out[i] = hidden(flag, arg)
			}
		}
	}
	return out
}

// hidden returns the value of a flag without its secret: the name of a header, or the public part
// of an address, with *** for the rest. Of any other value it returns only ***.
func hidden(flag, value string) string {
	if slices.Contains(addresses, flag) {
		u, err := url.Parse(value)
		if err != nil || u.Host == "" {
			return "***"
		}
		if u.User != nil {
			u.User = url.User("hidden")
		}
		if u.RawQuery != "" {
			u.RawQuery = "***"
		}
		return u.String()
	}
	if name, _, ok := strings.Cut(value, ":"); ok && flag == "--header" {
		return name + ": ***"
	}
	return "***"
}

// environment describes the machine and the programs of a run.
func (w *serverFlags) environment() map[string]string {
	e := map[string]string{"go": runtime.Version(), "system": "linux/" + runtime.GOARCH, "processors": fmt.Sprint(runtime.NumCPU())}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		e["kernel"] = unix.ByteSliceToString(name.Release[:])
	}
	if model := lineOf("/proc/cpuinfo", "model name"); model != "" {
		e["processor"] = model
	}
	if memory := lineOf("/proc/meminfo", "MemTotal"); memory != "" {
		e["memory"] = memory
	}
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		e["open files"] = fmt.Sprint(limit.Cur)
	}
	var load unix.Sysinfo_t
	if unix.Sysinfo(&load) == nil {
		e["load before"] = fmt.Sprintf("%.2f", float64(load.Loads[0])/65536)
	}
	e["generator"] = process.Version()
	if binary, err := w.binary(); err == nil && w.Spawn {
		if version, err := serverVersion(binary); err == nil {
			e["server"] = version
		}
	}
	return e
}

// serverVersion returns the version that a server binary reports: "v1.2 (revision)".
func serverVersion(binary string) (string, error) {
	// "atelier v1.2 (revision), data format …"
	out, err := exec.Command(binary, "version").Output()
	if err != nil {
		return "", fmt.Errorf("%s version: %w", binary, err)
	}
	name, _, _ := strings.Cut(strings.TrimSpace(string(out)), ",")
	return strings.TrimPrefix(name, "atelier "), nil
}

// lineOf returns the first value of a name in a file of /proc, or "" if there is none.
func lineOf(path, name string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
