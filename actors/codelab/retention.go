package codelab

import (
	"context"
	"time"

	pb "atelier/actors/codelab/codelabpb"
)

// Retain removes what has outlived the retention of its codelab, now and
// every so often until ctx ends.
func (w *Workshops) Retain(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		for _, m := range w.List.All() {
			if m.EmailRetentionDays == 0 && m.ChatRetentionDays == 0 || ctx.Err() != nil {
				continue
			}
			ws, err := w.Get(m.Id)
			if err == nil {
				_, _, err = ws.Ask(&pb.Command{
					Caller: &pb.Caller{Role: pb.Role_ROLE_SYSTEM}, Body: &pb.Command_ApplyRetention{ApplyRetention: &pb.ApplyRetention{}},
				})
			}
			if err != nil {
				w.Logger.Warn("applying retention failed", "codelab", m.Id, "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
