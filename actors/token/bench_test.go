package token

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	pb "atelier/actors/token/tokenpb"
	"atelier/persistence/badger"
	"atelier/persistence/shares"
)

// BenchmarkPairs creates and uses durable single-use tokens, with as many callers as a busy HTTP
// server. It reports pairs of tokenize and detokenize per second.
func BenchmarkPairs(b *testing.B) {
	for _, callers := range []int{16, 256} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			store, err := badger.Open(badger.Options{Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			kept, err := shares.Open(shares.Options{Dir: b.TempDir(), Longest: MaxLife})
			if err != nil {
				b.Fatal(err)
			}
			w := newWorld(b, func(o *Options) { o.Journal, o.Shares = store, kept })
			b.Cleanup(func() { w.stop(); _, _ = kept.Close(), store.Close() })
			c := card(b)
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ReportAllocs()
			b.ResetTimer()
			began := time.Now()
			var wg sync.WaitGroup
			for i := range callers {
				checkout := fmt.Sprintf("checkout-%d", i)
				wg.Go(func() {
					for left.Add(-1) >= 0 {
						t, err := w.vault.Tokenize(platform, Issue{
							Participant: "business", Checkout: checkout, Credential: c,
							Policy: pb.Policy_POLICY_SINGLE_USE, Life: DefaultLife,
						})
						if err == nil {
							_, err = w.vault.Detokenize(business, Use{t, "business", checkout})
						}
						if err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "pairs/s")
			st := store.Stats()
			b.ReportMetric(float64(st.Batches)/float64(st.Commits), "batches/commit")
			b.ReportMetric(float64(st.Commits)/time.Since(began).Seconds(), "commits/s")
		})
	}
}
