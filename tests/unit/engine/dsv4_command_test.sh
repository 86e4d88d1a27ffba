#!/bin/bash
# dsv4 from the outside: what it prints where, and its exit codes. $1: the program.
set -u
dsv4=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failures=0
fail() { echo "FAIL: $*"; failures=$((failures + 1)); }

# expect CODE COMMAND…: exit code; on 2, nothing on stdout and one sentence on stderr
expect() {
  local code=$1
  shift
  "$@" >"$dir/out" 2>"$dir/err"
  local got=$?
  [ "$got" = "$code" ] || fail "exit $got instead of $code: $*: $(cat "$dir/err")"
}
refused() {
  local sentence=$1
  shift
  expect 2 "$@"
  [ -s "$dir/out" ] && fail "output in spite of an error: $*"
  [ "$(wc -l <"$dir/err")" = 1 ] || fail "not one line of error: $*: $(cat "$dir/err")"
  grep -qF -- "$sentence" "$dir/err" || fail "'$sentence' not in: $(cat "$dir/err")"
}

expect 0 "$dsv4" --help
grep -q generate "$dir/out" || fail "--help does not name generate"
expect 2 "$dsv4"
expect 2 "$dsv4" no-such-command
expect 2 "$dsv4" generate

expect 0 "$dsv4" random-checkpoint --shape tiny --seed 3 --out "$dir/a"
expect 0 "$dsv4" random-checkpoint --shape tiny --seed 3 --out "$dir/b"
cmp -s "$dir/a/model.safetensors" "$dir/b/model.safetensors" || fail "one seed gave two models"
expect 0 "$dsv4" random-checkpoint --shape tiny --seed 4 --out "$dir/b"
cmp -s "$dir/a/model.safetensors" "$dir/b/model.safetensors" && fail "two seeds gave one model"
expect 0 "$dsv4" random-checkpoint --shape tiny --layers 3 --weights checkpoint --seed 4 --out "$dir/c"
expect 0 "$dsv4" info --model "$dir/c"
grep -q "^layers          3 (1 sliding, 1 CSA of 4, 1 HCA of 16), 2 hash-routed$" "$dir/out" || fail "info: $(head -1 "$dir/out")"
grep -qE "^config digest   [0-9a-f]{64}$" "$dir/out" || fail "info shows no config digest"
refused "the tiny shape has 6 layers, not 7" "$dsv4" random-checkpoint --shape tiny --layers 7 --seed 1 --out "$dir/x"

generate() { "$dsv4" generate --model "$dir/a" --prompt-ids 1,2,3 --ignore-eos "$@"; }
expect 0 generate --max-tokens 40
cp "$dir/out" "$dir/greedy"
[ "$(wc -l <"$dir/out")" = 1 ] || fail "generate prints more than one line"
grep -qE '^[0-9]+( [0-9]+){39}$' "$dir/out" || fail "not 40 ids separated by spaces: $(cat "$dir/out")"
[ -s "$dir/err" ] && fail "generate wrote to stderr: $(cat "$dir/err")"
expect 0 generate --max-tokens 40 --device cpu
cmp -s "$dir/out" "$dir/greedy" || fail "greedy is not repeatable"
# The prompt goes through the same step as what follows it: moving tokens from one to the other changes nothing.
read -r -a ids <"$dir/greedy"
"$dsv4" generate --model "$dir/a" --prompt-ids "1,2,3,${ids[0]},${ids[1]}" --max-tokens 38 --ignore-eos >"$dir/out"
[ "$(cat "$dir/out")" = "${ids[*]:2}" ] || fail "a longer prompt goes on differently"
expect 0 generate --max-tokens 20 --temperature 1 --seed 1
cp "$dir/out" "$dir/one"
expect 0 generate --max-tokens 20 --temperature 1 --seed 1
cmp -s "$dir/out" "$dir/one" || fail "sampling with one seed is not repeatable"
expect 0 generate --max-tokens 20 --temperature 1 --seed 2
cmp -s "$dir/out" "$dir/one" && fail "sampling with two seeds is the same"

# A stop token ends the line and is not printed.
sed "s/\"eos_token_id\": \[/\"eos_token_id\": [${ids[4]}, /" "$dir/a/config.json" >"$dir/config.json"
mkdir "$dir/stop" && mv "$dir/config.json" "$dir/stop/" && ln -s "$dir/a/model.safetensors" "$dir/stop/"
expect 0 "$dsv4" generate --model "$dir/stop" --prompt-ids 1,2,3 --max-tokens 40
first=$(for i in "${!ids[@]}"; do [ "${ids[i]}" = "${ids[4]}" ] || [ "${ids[i]}" = 1 ] && { echo "$i"; break; }; done)
[ "$(cat "$dir/out")" = "$(echo "${ids[@]:0:first}")" ] || fail "stop token: $(cat "$dir/out")"

# A number that is none, or too small to divide by, or another than it was written.
for temperature in nan inf 1e-310 -1; do
  expect 2 generate --max-tokens 1 --temperature "$temperature"
  grep -q "a temperature is 0, or from" "$dir/err" || fail "--temperature $temperature: $(cat "$dir/err")"
done
for seed in -1 18446744073709551616 0x1 1.5 ""; do
  expect 2 generate --max-tokens 1 --temperature 1 --seed "$seed"
  expect 2 "$dsv4" random-checkpoint --shape tiny --seed "$seed" --out "$dir/x"
  grep -q -e "--seed" "$dir/err" || fail "--seed $seed: $(cat "$dir/err")"
done
expect 0 generate --max-tokens 1 --temperature 1 --seed 18446744073709551615

# A scale that the model's arithmetic does not bear: not a token that nothing speaks for.
mkdir "$dir/scaled" && ln -s "$dir/a/model.safetensors" "$dir/scaled/"
sed 's/"routed_scaling_factor": 1.5/"routed_scaling_factor": 1e30/' "$dir/a/config.json" >"$dir/scaled/config.json"
expect 2 "$dsv4" generate --model "$dir/scaled" --prompt-ids 1,2,3 --max-tokens 3
grep -q "the logits of position 2 tell no token from another" "$dir/err" || fail "scaled: $(cat "$dir/err")"
[ -s "$dir/out" ] && fail "a token of no logits: $(cat "$dir/out")"

# Many prompts: each is answered as if it were alone, whatever is beside it, in a line of its own as it ends.
cat >"$dir/prompts" <<'JSON'
{"prompt_ids": [1, 2, 3], "id": "first"}
{"prompt_ids": [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 11, 12], "id": 7, "max_tokens": 4}

{"prompt_ids": [200], "temperature": 1, "seed": 3, "top_k": 5, "max_tokens": 9}
{"prompt_ids": [4, 4], "max_tokens": 1}
JSON
many() { "$dsv4" generate --model "$dir/a" --prompts "$dir/prompts" --max-tokens 12 --ignore-eos "$@"; }
alone() { "$dsv4" generate --model "$dir/a" --ignore-eos "$@" | tr ' ' ','; }
line() { echo "{\"line\":$1,$2\"ids\":[$3],\"end\":\"length\"}"; }
{
  line 1 '"id":"first",' "$(alone --prompt-ids 1,2,3 --max-tokens 12)"
  line 2 '"id":7,' "$(alone --prompt-ids 9,8,7,6,5,4,3,2,1,0,11,12 --max-tokens 4)"
  line 4 "" "$(alone --prompt-ids 200 --temperature 1 --seed 3 --top-k 5 --max-tokens 9)"
  line 5 "" "$(alone --prompt-ids 4,4 --max-tokens 1)"
} >"$dir/wanted"
for how in "" "--rows 2" "--rows 2 --chunk 5" "--rows 4 --chunk 64" "--rows 64"; do
  # shellcheck disable=SC2086
  expect 0 many $how
  sort "$dir/out" | cmp -s - "$dir/wanted" || fail "many prompts, $how: $(cat "$dir/out")"
done
expect 0 many
[ "$(head -1 "$dir/out")" = "$(head -1 "$dir/wanted")" ] || fail "one row answers in another order"
expect 0 many --rows 4
grep -q '"line":5' <<<"$(head -1 "$dir/out")" || fail "the shortest answer did not come first: $(head -1 "$dir/out")"
echo '{"prompt_ids": [1, 2, 3]}' >"$dir/prompts"
expect 0 "$dsv4" generate --model "$dir/stop" --prompts <(cat "$dir/prompts") --max-tokens 1
expect 0 "$dsv4" generate --model "$dir/stop" --prompts "$dir/prompts" --max-tokens 40
[ "$(cat "$dir/out")" = "{\"line\":1,\"ids\":[$(IFS=,; echo "${ids[*]:0:first}")],\"end\":\"stop\"}" ] || fail "many, a stop token: $(cat "$dir/out")"
# Nothing is answered before every line is read.
wrong() {
  printf '{"prompt_ids": [1]}\n%s\n' "$2" >"$dir/prompts"
  refused "prompts: line 2: $1" many
}
wrong 'not valid JSON' '{"prompt_ids": [1]'
wrong 'no JSON object' '[1]'
wrong 'there is no "tokens" in a prompt' '{"tokens": [1]}'
wrong 'either "prompt" or "prompt_ids" is needed' '{}'
wrong 'either "prompt" or "prompt_ids" is needed' '{"prompt": "x", "prompt_ids": [1]}'
wrong '"prompt_ids" is no list of token ids' '{"prompt_ids": 1}'
wrong 'token 256 of the prompt is outside the vocabulary of 256' '{"prompt_ids": [256]}'
wrong 'token 1.5 of the prompt is outside' '{"prompt_ids": [1.5]}'
wrong 'the prompt is empty' '{"prompt_ids": []}'
wrong '"max_tokens" is 0, not a whole number of at least 1' '{"prompt_ids": [1], "max_tokens": 0}'
wrong '"max_tokens" is "9", not a whole number' '{"prompt_ids": [1], "max_tokens": "9"}'
wrong '1 tokens of prompt and 4096 new ones are more than the model' '{"prompt_ids": [1], "max_tokens": 4096}'
wrong '"top_k" is -1' '{"prompt_ids": [1], "top_k": -1}'
wrong '"ignore_eos" is 1, neither true nor false' '{"prompt_ids": [1], "ignore_eos": 1}'
wrong 'a temperature is 0, or from' '{"prompt_ids": [1], "temperature": -1}'
wrong 'a temperature is 0, or from' '{"prompt_ids": [1], "temperature": "1"}'
wrong 'a seed is a whole number' '{"prompt_ids": [1], "seed": -1}'
wrong '"id" is neither a string nor a whole number' '{"prompt_ids": [1], "id": [1]}'
wrong '"prompt" is no text' '{"prompt": 1}'
: >"$dir/prompts"
refused "prompts: there is no prompt in it" many
expect 2 "$dsv4" generate --model "$dir/a" --prompt-ids 1 --rows 2 --max-tokens 1
expect 2 many --rows 65

refused "token 256 of the prompt is outside the vocabulary of 256" "$dsv4" generate --model "$dir/a" --prompt-ids 256 --max-tokens 1
refused "more than the model's 4096 positions" generate --max-tokens 4096
refused "/config.json: cannot be read" "$dsv4" generate --model "$dir/none" --prompt-ids 1 --max-tokens 1
mkdir "$dir/bad" && cp "$dir/a/config.json" "$dir/bad/"
refused "neither model.safetensors nor" "$dsv4" info --model "$dir/bad"
head -c 5000 "$dir/a/model.safetensors" >"$dir/bad/model.safetensors"
refused "truncated in the header" "$dsv4" info --model "$dir/bad"
head -c 500000 "$dir/a/model.safetensors" >"$dir/bad/model.safetensors"
refused "lies at bytes" "$dsv4" info --model "$dir/bad"
cp "$dir/c/model.safetensors" "$dir/bad/"
refused "tensor \"layers.3.attn_norm.weight\" is missing" "$dsv4" info --model "$dir/bad"
echo '{"model_type": "deepseek_v3"}' >"$dir/bad/config.json"
refused '"model_type" is "deepseek_v3"' "$dsv4" info --model "$dir/bad"
refused "/dev/null: not a regular file" "$dsv4" verify --golden /dev/null
: >"$dir/empty"
refused "0 bytes are too few for a safetensors file" "$dsv4" verify --golden "$dir/empty"

# A step against the reference, and against what another wrote down.
compare() { "$dsv4" compare --model "$dir/a" "$@"; }
expect 0 compare --prompt-ids 1,2,3,4,5,6,7,8 --positions 3,7 --write-dump "$dir/dump.safetensors"
grep -qE '^ +reference +position +3 embed ' "$dir/out" || fail "compare: $(head -3 "$dir/out")"
grep -q APART "$dir/out" && fail "the reference is apart from itself"
expect 0 compare --dump "$dir/dump.safetensors"
[ "$(wc -l <"$dir/out")" -gt 100 ] || fail "compare --dump shows few components"
expect 0 compare --dump "$dir/dump.safetensors" --positions 7
grep -q 'position *3 ' "$dir/out" && fail "a position that was not asked for"
expect 1 "$dsv4" compare --model "$dir/b" --dump "$dir/dump.safetensors"
grep -q "^dump: the first component that is apart is embed at position 3$" "$dir/out" || fail "compare: $(tail -1 "$dir/out")"
refused "--model needs either --prompt-ids or --dump" compare
refused "--model needs either --prompt-ids or --dump" compare --prompt-ids 1 --dump "$dir/dump.safetensors"
refused "position 8 of 8 tokens" compare --prompt-ids 1,2,3,4,5,6,7,8 --positions 8
refused "token 256 is outside the vocabulary of 256" compare --prompt-ids 256
refused 'has no tensor "tokens"' compare --dump "$dir/a/model.safetensors"
refused "cannot be written" compare --prompt-ids 1 --write-dump "$dir/none/dump"
cp "$dir/a/model.safetensors" "$dir/kept"
refused "is there already, and is no dump" compare --prompt-ids 1 --write-dump "$dir/a/model.safetensors"
cmp -s "$dir/a/model.safetensors" "$dir/kept" || fail "the weights are lost to a dump"
expect 0 compare --prompt-ids 1,2,3,4,5,6,7,8 --positions 3,7 --write-dump "$dir/dump.safetensors"
expect 2 "$dsv4" compare --golden x --model y
expect 2 "$dsv4" verify

# Shapes whose weights are made on the device.
if "$dsv4" --help | grep -q "^  bench "; then
  refused "--gate is for a mode that replays graphs, full or piecewise; the mode is eager" generate --max-tokens 1 --gate "$dir/none.json"
  refused "the flash shape has 43 layers, not 44" "$dsv4" bench --shape flash --layers 44
  refused '--layers is a number or fit, not "many"' "$dsv4" bench --shape flash --layers many
  refused "more than the model's 4096" "$dsv4" bench --shape tiny --context 4096
  refused "mode full needs --gate" "$dsv4" bench --shape tiny --mode full
  refused "mode piecewise needs --gate" "$dsv4" bench --shape tiny --mode piecewise
  refused "mode piecewise needs --device cuda" generate --max-tokens 1 --mode piecewise
  expect 2 "$dsv4" bench
  expect 2 "$dsv4" bench --shape tiny --model "$dir/a"
  expect 2 "$dsv4" bench --model "$dir/a" --layers 2
fi

# Text: a tokenizer whose tokens are the 256 bytes.
refused "a/tokenizer.json: cannot be read: No such file or directory; a prompt of text needs the model's tokenizer.json" \
  "$dsv4" generate --model "$dir/a" --prompt text --max-tokens 1
expect 2 "$dsv4" generate --model "$dir/a" --prompt text --prompt-ids 1 --max-tokens 1
python3 -B "$(dirname "$0")/tokenizer_json.py" >"$dir/a/tokenizer.json" || fail "no tokenizer.json"
expect 0 "$dsv4" tokenize --model "$dir/a" --text "Aé<think>"
[ "$(cat "$dir/out")" = "65 195 169 258" ] || fail "tokenize: $(cat "$dir/out")"
expect 0 "$dsv4" tokenize --model "$dir/a" --ids 65,195,169,258,256
[ "$(cat "$dir/out")" = "Aé<think>" ] || fail "tokenize --ids: $(cat "$dir/out")"
expect 0 "$dsv4" generate --model "$dir/a" --prompt-ids 72,105 --max-tokens 12 --ignore-eos
tr ' ' ',' <"$dir/out" >"$dir/ids"
expect 0 "$dsv4" tokenize --model "$dir/a" --ids "$(cat "$dir/ids")"
cp "$dir/out" "$dir/decoded"
expect 0 "$dsv4" generate --model "$dir/a" --prompt Hi --max-tokens 12 --ignore-eos
cmp -s "$dir/out" "$dir/decoded" || fail "generate --prompt: $(od -c "$dir/out") instead of $(od -c "$dir/decoded")"
echo '{"prompt": "Hi", "id": "t"}' >"$dir/prompts"
expect 0 "$dsv4" generate --model "$dir/a" --prompts "$dir/prompts" --max-tokens 12 --ignore-eos
python3 - "$dir/out" "$dir/decoded" <<'PYTHON' || fail "a prompt of text: $(cat "$dir/out")"
import json, sys
answer = json.loads(open(sys.argv[1], encoding="utf-8").read())
text = open(sys.argv[2], "rb").read()[:-1].decode("utf-8", "replace")
assert answer["text"] == text and answer["id"] == "t" and len(answer["ids"]) == 12, (answer, text)
PYTHON
refused "the prompt is empty" "$dsv4" generate --model "$dir/a" --prompt "" --max-tokens 1
refused "the prompt: the text is not UTF-8 at byte 1" "$dsv4" generate --model "$dir/a" --prompt $'a\xff' --max-tokens 1
# What was printed has arrived, or the command did not do it. What was not compared does not agree.
for to in '>/dev/full' '>&-'; do
  for command in "info" "generate --prompt-ids 1 --max-tokens 2"; do
    bash -c "exec \"\$@\" $to" - "$dsv4" ${command%% *} --model "$dir/a" $(cut -s -d' ' -f2- <<<"$command") 2>"$dir/err"
    [ $? = 2 ] || fail "exit $? with output $to: $command"
    grep -q "standard output: cannot be written" "$dir/err" || fail "no word of lost output $to: $(cat "$dir/err")"
  done
done
expect 0 "$dsv4" compare --model "$dir/a" --prompt-ids 1,2,3 --write-dump "$dir/dump"
expect 0 "$dsv4" compare --model "$dir/a" --dump "$dir/dump" --positions 2
refused "dump: holds no component of position 0" "$dsv4" compare --model "$dir/a" --dump "$dir/dump" --positions 0

# No name may steer the terminal, no pipe may be waited for, no word may be read as an id that it is not.
refused "?[31m/config.json" timeout 20 "$dsv4" info --model $'/none/\e[31m'
expect 2 "$dsv4" generate --model "$dir/a" --max-tokens 1 --prompt-ids $'\e[31m'
grep -q $'\e' "$dir/err" && fail "an argument steers the terminal"
mkdir "$dir/pipes"
mkfifo "$dir/pipes/config.json" "$dir/pipes/tokenizer.json"
refused "config.json: is a named pipe, not a file" timeout 20 "$dsv4" info --model "$dir/pipes"
refused "tokenizer.json: is a named pipe, not a file" timeout 20 "$dsv4" tokenize --model "$dir/pipes" --text x
ln -sf /dev/zero "$dir/pipes/tokenizer.json"
refused "tokenizer.json: is a device, not a file" timeout 20 "$dsv4" tokenize --model "$dir/pipes" --text x
ln -sf "$dir/a/config.json" "$dir/pipes/config.json"
mkfifo "$dir/pipes/model.safetensors"
refused "model.safetensors: not a regular file" timeout 20 "$dsv4" info --model "$dir/pipes"
truncate -s 3G "$dir/large"
ln -sf "$dir/large" "$dir/pipes/config.json"
refused "config.json: is larger than 16 MiB, which is more than is read" timeout 20 "$dsv4" info --model "$dir/pipes"
for command in "generate --max-tokens 1 --prompt-ids" "tokenize --ids" "compare --prompt-ids"; do
  # shellcheck disable=SC2086
  expect 2 "$dsv4" $command "" --model "$dir/a"
  [ -s "$dir/out" ] && fail "an empty word was taken for an id: $command: $(cat "$dir/out")"
done
refused "token 258 of the prompt is outside the vocabulary of 256" "$dsv4" generate --model "$dir/a" --prompt "<think>" --max-tokens 1
echo '{"model": {"type": "WordPiece"}, "pre_tokenizer": {"type": "Whitespace"}}' >"$dir/a/tokenizer.json"
refused "the pre_tokenizer is Whitespace, which this engine does not know" "$dsv4" generate --model "$dir/a" --prompt x --max-tokens 1

if [ "$failures" != 0 ]; then
  echo "$failures failures"
  exit 1
fi
