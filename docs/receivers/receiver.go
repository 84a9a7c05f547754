// receiver.go: go run receiver.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const tolerance = 5 * time.Minute

var secret = os.Getenv("WEBHOOK_SECRET")
var seen sync.Map // In production: a unique key in your database.

func mac(key []byte, parts ...[]byte) []byte {
	hash := hmac.New(sha256.New, key)
	for _, part := range parts {
		hash.Write(part)
	}
	return hash.Sum(nil)
}

func webhookSignatureFits(headers http.Header, body []byte) bool {
	id, timestamp := headers.Get("webhook-id"), headers.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return false
	}
	if age := time.Since(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return false
	}
	expected := "v1," + base64.StdEncoding.EncodeToString(mac(key, []byte(id+"."+timestamp+"."), body))
	for _, signature := range strings.Fields(headers.Get("webhook-signature")) {
		if hmac.Equal([]byte(signature), []byte(expected)) {
			return true
		}
	}
	return false
}

func serviceSignatureFits(headers http.Header, body []byte) bool {
	expected := hex.EncodeToString(mac([]byte(secret), body))
	return hmac.Equal([]byte(headers.Get("X-Service-Signature")), []byte(expected))
}

func main() {
	fits := webhookSignatureFits
	if os.Getenv("WEBHOOK_SCHEME") == "service" {
		fits = serviceSignatureFits
	}
	http.HandleFunc("/", func(writer http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(writer, request.Body, 1<<20))
		if err != nil || !fits(request.Header, body) {
			writer.WriteHeader(http.StatusUnauthorized)
			return
		}
		var event struct{ ID, Type string }
		if err := json.Unmarshal(body, &event); err != nil {
			writer.WriteHeader(http.StatusBadRequest)
			return
		}
		if _, isSeen := seen.LoadOrStore(event.ID, true); !isSeen {
			fmt.Println(event.Type, event.ID)
		}
		writer.WriteHeader(http.StatusNoContent)
	})
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, nil))
}
