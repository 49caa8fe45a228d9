package bus

import (
	"bytes"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"atelier/actors/durable"
	"atelier/actors/durable/bustest"
)

// pair returns two connected nodes.
func pair(b *testing.B) (one, other *Bus) {
	b.Helper()
	addrs := make([]string, 2)
	for i := range addrs {
		addrs[i] = "127.0.0.1:0"
	}
	one, err := Open(Options{Node: "a", Secret: "the secret", Listen: addrs[0], Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(one.Close)
	other, err = Open(Options{Node: "b", Secret: "the secret", Listen: addrs[1], Peers: []string{one.Addr()}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(other.Close)
	bustest.Reached(&testing.T{}, []string{"a", "b"}, []durable.Bus{one, other})
	return one, other
}

// BenchmarkAsk sends requests to another node one by one, and waits for each response.
func BenchmarkAsk(b *testing.B) {
	for _, size := range []int{64, 4096} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			one, other := pair(b)
			if _, err := other.Serve("x", func(_ string, data []byte, answer func([]byte)) { answer(data) }); err != nil {
				b.Fatal(err)
			}
			bustest.Reachable(&testing.T{}, one, "b", "x")
			data, got := bytes.Repeat([]byte("x"), size), make(chan error, 1)
			b.ReportAllocs()
			b.SetBytes(int64(size))
			for b.Loop() {
				one.Request("b", "x", data, time.Minute, func(_ []byte, err error) { got <- err })
				if err := <-got; err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkTell publishes messages to another node in rounds of a hundred, and waits in each round
// until all have arrived.
func BenchmarkTell(b *testing.B) {
	for _, size := range []int{256, 4096} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			const burst = 100
			one, other := pair(b)
			received := make(chan struct{}, 1<<16)
			if _, err := other.Listen("x", func(string, []byte) { received <- struct{}{} }); err != nil {
				b.Fatal(err)
			}
			data := bytes.Repeat([]byte("x"), size)
			for len(received) == 0 { // messages are lost until the other node has this session
				if err := one.Publish("x", data); err != nil {
					b.Fatal(err)
				}
				time.Sleep(10 * time.Millisecond)
			}
			for len(received) > 0 {
				<-received
			}
			b.ReportAllocs()
			b.SetBytes(int64(size) * burst)
			for b.Loop() {
				for range burst {
					if err := one.Publish("x", data); err != nil {
						b.Fatal(err)
					}
				}
				for range burst {
					<-received
				}
			}
		})
	}
}
