package aggregate

// Collide makes all groups have the same hash, so that only bytes tell them
// apart.
func (r *Replies) Collide() { r.hash.blind = true }

// Collide is as for Replies.
func (p *Pending) Collide() { p.hash.blind = true }
