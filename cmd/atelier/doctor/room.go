package doctor

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/fasthttp/websocket"
)

const (
	// maxRoom is the maximum number of connections that are opened.
	maxRoom = 2000
	// atOnce is the number of sockets that are opened concurrently.
	atOnce = 16
)

// room opens sockets as browsers do, one per expected person, but at most maxRoom. It keeps all of
// them open until the last has opened or failed. A proxy has its own connection limit, which only
// such a load can reveal.
func (v *visit) room(ctx context.Context) Finding {
	if v.loggedIn {
		defer v.logout(ctx)
	}
	if v.lab == "" {
		return untried("", fmt.Sprintf("no socket could be opened, so it is unknown whether %d people can connect", v.People))
	}
	n := min(v.People, maxRoom)
	each := v.SocketsPerLogin
	if each <= 0 {
		each = n
	}
	var (
		all   sync.WaitGroup
		mu    sync.Mutex
		open  []*websocket.Conn
		first error
	)
	places := make(chan struct{}, atOnce)
	for begun := 0; begun < n; begun += each {
		who, err := v.again(ctx)
		if err != nil {
			mu.Lock()
			first = err
			mu.Unlock()
			break
		}
		defer who.logout(ctx)
		for range min(each, n-begun) {
			places <- struct{}{}
			all.Go(func() {
				defer func() { <-places }()
				c, _, err := who.dial(ctx, v.lab)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					open = append(open, c)
				case first == nil:
					first = err
				}
			})
		}
	}
	all.Wait()
	defer func() {
		for _, c := range open {
			_ = c.Close()
		}
	}()
	if first != nil || len(open) < n {
		return bad(
			"behind nginx, raise worker_connections (two for each socket, in the events block of /etc/nginx/nginx.conf) and worker_rlimit_nofile (deploy/nginx.conf); also raise LimitNOFILE of the proxy and of the server",
			"only %d of %d simultaneous connections opened: %v", len(open), n, plain(first))
	}
	return fine("%d connections were open at once", n)
}

// again logs the owner in again, because the number of sockets per login is limited.
func (v *visit) again(ctx context.Context) (*visit, error) {
	who := &visit{Options: v.Options, client: newClient(), reached: true}
	if f := who.login(ctx); !f.OK {
		return nil, errors.New(f.Text)
	}
	return who, nil
}
