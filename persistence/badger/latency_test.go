package badger

import (
	"bytes"
	"slices"
	"testing"
	"time"
)

// BenchmarkCommitBesideSnapshot measures one caller that commits single records: first alone, then
// while another actor stores snapshots of 30 MB without pause. The percentiles are of single
// commits.
func BenchmarkCommitBesideSnapshot(b *testing.B) {
	for _, size := range []int{0, 30 << 20} {
		name := "alone"
		if size > 0 {
			name = "beside"
		}
		b.Run(name, func(b *testing.B) {
			s := openTest(b, Options{Dir: b.TempDir()}, hooks{})
			busy := openLog(b, s, "busy")
			if err := commit(busy, 1, "r"); err != nil {
				b.Fatal(err)
			}
			stop, stopped := make(chan struct{}), make(chan struct{})
			go snapshotUntil(b, s, size, stop, stopped)

			var took []time.Duration
			for seq := uint64(2); b.Loop(); seq++ {
				began := time.Now()
				if err := commit(busy, seq, "record"); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			close(stop)
			<-stopped
			slices.Sort(took)
			for name, q := range map[string]float64{"p50-ms": 0.5, "p99-ms": 0.99, "max-ms": 1} {
				at := int(q*float64(len(took))+0.5) - 1
				b.ReportMetric(took[max(at, 0)].Seconds()*1000, name)
			}
			b.ReportMetric(float64(s.Stats().Snapshots), "snapshots")
		})
	}
}

func snapshotUntil(b *testing.B, s *Store, size int, stop, stopped chan struct{}) {
	defer close(stopped)
	if size == 0 {
		return
	}
	l := openLog(b, s, "large")
	if err := commit(l, 1, "r"); err != nil {
		b.Error(err)
		return
	}
	state := string(bytes.Repeat([]byte("s"), size))
	for {
		select {
		case <-stop:
			return
		default:
		}
		if err := trySnap(l, 1, state, 0); err != nil {
			b.Error(err)
			return
		}
	}
}
