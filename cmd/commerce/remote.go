package main

import (
	"atelier/transport/commerce/library"
)

// fetcher is nil unless the user allowed the network.
func fetcher(remote bool) library.Fetcher {
	if !remote {
		return nil
	}
	return nil
}
