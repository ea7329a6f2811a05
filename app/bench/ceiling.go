package main

import (
	"encoding/json"
	"flag"
	"net/http"
	"strconv"
	"strings"

	"github.com/julienschmidt/httprouter"

	"confab/storage"
)

// ceiling serves the least that answers as confab does: a router, the check of a
// key, and some JSON. What it reaches is what HTTP allows on this machine.
func ceiling(args []string) error {
	flags := flag.NewFlagSet("ceiling", flag.ContinueOnError)
	listen := flags.String("listen", "", "address to listen on")
	key := flags.String("key", "", "the API key")
	if err := flags.Parse(args); err != nil {
		return err
	}
	keys := map[[32]byte]bool{storage.KeyHash(*key): true}
	router := httprouter.New()
	router.GET("/", func(http.ResponseWriter, *http.Request, httprouter.Params) {})
	router.GET("/v1/:number/messages/:id", func(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !keys[storage.KeyHash(token)] {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		body, err := json.Marshal(map[string]any{"data": map[string]string{"id": p.ByName("id"), "object": "message"}})
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body)
	})
	return (&http.Server{Addr: *listen, Handler: router}).ListenAndServe()
}
