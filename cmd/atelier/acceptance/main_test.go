package acceptance

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"atelier/cmd/internal/servertest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := errors.Join(chooseTests(), runBeside()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	certificate := trustTestServers()
	code := m.Run()
	if err := searchTheSuite(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	common.stop()
	_ = os.Remove(certificate)
	servertest.Remove()
	if code == 0 {
		// fasthttp's pools check every ten seconds whether they were stopped, and its clock never
		// stops.
		err := goleak.Find(goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
			goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
			// The load test's cleaner of idle connections ends some seconds after the last
			// connection.
			goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*HostClient).connsCleaner"))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}
