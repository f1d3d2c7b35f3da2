// Package registration makes the routing table of a session from the servers that register at a
// rendezvous.
package registration

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sdm/tree/overlay"
)

// Registrar accepts registrations: overlay.RendezvousListener.
type Registrar interface {
	// Accept returns the next server that has proved the secret. answer must be called once.
	Accept(ctx context.Context) (r overlay.Registration, answer func(overlay.Decision), err error)
}

// binomial is the shape of a tree whose shape is not given.
const binomial = "binomial"

// refusals are the reasons why servers were refused, to be reported to the user.
type refusals []string

// maxRefusals bounds how many are kept.
const maxRefusals = 8

func (r *refusals) add(refusal string) {
	if len(*r) < maxRefusals && !slices.Contains(*r, refusal) {
		*r = append(*r, refusal)
	}
}

// with appends the refusals to the error of a collection that has failed.
func (r refusals) with(err error) error {
	if len(r) == 0 {
		return err
	}
	return fmt.Errorf("%w; %s", err, strings.Join(r, "; "))
}

// arrival is a registration that may not have been answered yet.
type arrival struct {
	overlay.Registration
	answer func(overlay.Decision)
}
