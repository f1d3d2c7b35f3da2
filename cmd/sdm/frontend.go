// Front ends other than the console, which sdm dials.

package main

import (
	"context"
	"strings"

	"sdm/master/frontend/rpc"
)

// stdio is the address of a front end that has started this process.
const stdio = "stdio"

// dialFrontEnd connects to the front end of --connect.
func (a *app) dialFrontEnd(ctx context.Context, address string, o *options, r rpc.Options) (*rpc.Conn, error) {
	if address == stdio {
		return rpc.Stdio(a.stdin, a.stdout), nil
	}
	if !strings.HasPrefix(address, "unix:") {
		key, err := o.job.Servers.Key()
		if err != nil {
			return nil, err
		}
		r.Secret = key[:]
	}
	return rpc.Dial(ctx, address, r)
}
