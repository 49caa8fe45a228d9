package service

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"atelier/bench/api"
	"atelier/cmd/atelier/config"
)

// BenchmarkList creates a hundred thousand codelabs on a server. It reports the CPU time per
// codelab (including the client's), when few and when all codelabs exist. It also reports the time
// of a list, a search and a start. One run is enough: -benchtime 1x.
func BenchmarkList(b *testing.B) {
	const few, many, sample = 100, 100_000, 2000
	cfg := config.Default()
	cfg.Server.Listen = "127.0.0.1:0"
	cfg.Admin.Password = "a password of this benchmark"
	cfg.Limits.WritesPerMinute, cfg.Limits.ReadsPerMinute = 1<<30, 1<<30
	if cfg.Server.Data = os.Getenv(filled); cfg.Server.Data != "" {
		l := list{B: b, cfg: cfg}
		l.start()
		l.create(few)
		b.Logf("%s%.3f", amongFew, l.create(sample))
		l.create(many - few - sample)
		l.stop()
		return
	}
	for range b.N {
		// A separate process creates them, so this process starts without them in memory.
		cfg.Server.Data = b.TempDir()
		fill := exec.Command(os.Args[0], "-test.run", "^$", "-test.bench", "List$", "-test.benchtime", "1x")
		fill.Env = append(os.Environ(), filled+"="+cfg.Server.Data)
		out, err := fill.CombinedOutput()
		if err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		var amongAFew float64
		if i := bytes.Index(out, []byte(amongFew)); i >= 0 {
			_, _ = fmt.Sscan(string(out[i+len(amongFew):]), &amongAFew)
		}
		l := list{B: b, cfg: cfg, count: many}
		began := time.Now()
		l.start()
		b.ReportMetric(time.Since(began).Seconds(), "s/start")
		l.create(few) // finish work that the start has left
		b.ReportMetric(amongAFew, "ms/create-few")
		b.ReportMetric(l.create(sample), "ms/create-many")
		b.ReportMetric(l.ask("", l.count), "s/list")
		b.ReportMetric(l.ask("?q=number+77777", 1), "s/search")
		l.stop()
	}
}

const (
	filled   = "ATELIER_BENCHMARK_LIST"
	amongFew = "among few: "
)

// list is a server with the codelabs of a benchmark, and its logged-in owner.
type list struct {
	*testing.B
	cfg     config.Config
	service *Service
	client  *api.Client
	admin   api.Session
	count   int
}

func (l *list) must(err error) {
	if err != nil {
		l.Helper()
		l.Fatal(err)
	}
}

func (l *list) start() {
	var err error
	l.service, err = Start(l.cfg, Options{}, slog.New(slog.DiscardHandler))
	l.must(err)
	l.client, err = api.New("http://"+l.service.Addr(), "", time.Minute)
	l.must(err)
	l.admin, err = l.client.Login(l.cfg.Admin.ID, string(l.cfg.Admin.Password), "")
	l.must(err)
}

func (l *list) stop() { l.must(l.service.Stop()) }

// create creates n codelabs and returns the CPU time per codelab, in ms.
func (l *list) create(n int) float64 {
	before := processorTime()
	var all sync.WaitGroup
	for w := range 32 {
		all.Go(func() {
			for i := l.count + w; i < l.count+n; i += 32 {
				err := l.client.Send(l.admin, "POST", "/codelabs", map[string]any{"title": fmt.Sprint("Workshop number ", i), "author": fmt.Sprint("Author ", i%1000)})
				if err != nil {
					l.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	l.count += n
	return float64((processorTime() - before).Microseconds()) / 1000 / float64(n)
}

// ask returns the duration of a list request in seconds. The list must contain want codelabs.
func (l *list) ask(query string, want int) float64 {
	began := time.Now()
	answer, err := l.client.Do(&api.Request{Method: "GET", Path: "/codelabs" + query, Session: l.admin})
	took := time.Since(began).Seconds()
	l.must(err)
	if found := bytes.Count(answer.Body, []byte(`"join_code":`)); found != want {
		l.Errorf("the list has %d codelabs, want %d", found, want)
	}
	return took
}

// processorTime returns the CPU time of this process.
func processorTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
