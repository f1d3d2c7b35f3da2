// What ends a server.

package pmix

import "fmt"

// harmful are the values of a spawn that end PRRTE 3.0.8 with all its jobs; the first ends 5.0.0rc1,
// too. They are refused on both sides of the protocol, whoever has made the request.
var harmful = []struct {
	key   Key
	check func(Value) error
}{
	{StdinTarget, func(Value) error { return nil }},
	{MapBy, func(v Value) error { return checkPolicy("map by", v.Text, mapWords, mapMods) }},
	{RankBy, func(v Value) error { return checkPolicy("rank by", v.Text, rankBy, nil) }},
	{BindTo, func(v Value) error { return checkPolicy("bind to", v.Text, bindTo, bindMods) }},
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
