// Requests that would end a server.

package pmix

import "fmt"

// harmful lists the keys of a spawn whose wrong values end PRRTE 3.0.8 with all its jobs; wrong
// values of the first end 5.0.0rc1, too. A value of another type than Text is wrong for all of
// them; check returns why a text is wrong. They are refused on both sides of the protocol, and so
// in all requests.
var harmful = []struct {
	key   Key
	check func(Value) error
}{
	{StdinTarget, func(Value) error { return nil }},
	{MapBy, func(v Value) error { return checkPolicy("map by", v.Text, mapWords, mapMods) }},
	{RankBy, func(v Value) error { return checkPolicy("rank by", v.Text, rankWords, nil) }},
	{BindTo, func(v Value) error { return checkPolicy("bind to", v.Text, bindWords, bindMods) }},
	{Hosts, func(v Value) error { return checkHostList(v.Text) }},
}

// checkHarmless returns why directives of a spawn would end a server.
func checkHarmless(infos []Info) error {
	for _, one := range infos {
		for _, rule := range harmful {
			if rule.key != one.Key {
				continue
			}
			if one.Type != Text {
				return fmt.Errorf("%s: type %s, not %s, would end the server", one.Key, one.Type, Text)
			}
			if err := rule.check(one.Value); err != nil {
				return err
			}
		}
	}
	return nil
}
