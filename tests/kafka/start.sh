#!/usr/bin/env bash
# Start one Kafka broker (KRaft, single node, combined broker+controller) on 127.0.0.1.
#
#   start.sh [-p PORT] [-c CONTROLLER_PORT] [-d DATADIR] [-k] [-w PID] [-o key=value]...
#
#   -p PORT   broker port (default 9092); the controller takes PORT+1 unless -c says otherwise
#   -d DIR    data + log + pid folder (default /tmp/kafka-PORT). Wiped unless -k (keep) is given.
#   -w PID    stop the broker when the process PID is gone
#   -o K=V    extra server.properties line (repeatable)
# Environment: KAFKA_HEAP (default 320m), KAFKA_LIBS (default build/deps/kafka, where script/bootstrap puts it), JAVA (default java),
#              KAFKA_WAIT (seconds to wait for readiness, default 60), KAFKA_JVM_OPTS (extra JVM flags)
# Prints the bootstrap address on stdout when the broker answers; exit status 0 only then.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
port=9092 cport= data= keep=0 watched= extra=()
while getopts "p:c:d:kw:o:" f; do case $f in
  p) port=$OPTARG;; c) cport=$OPTARG;; d) data=$OPTARG;; k) keep=1;; w) watched=$OPTARG;; o) extra+=("$OPTARG");;
  *) exit 2;; esac; done
cport=${cport:-$((port + 1))}
data=${data:-/tmp/kafka-$port}
libs=${KAFKA_LIBS:-$here/../../build/deps/kafka}
java=${JAVA:-java}

[ -f "$libs/.complete" ] || { echo "no broker in $libs: run script/bootstrap test" >&2; exit 1; }

alive() { { tr '\0' ' ' < "/proc/$1/cmdline" | grep -q 'kafka\.Kafka'; } 2>/dev/null; } # false for a zombie
if [ -f "$data/broker.pid" ] && alive "$(cat "$data/broker.pid")"; then
  echo "a broker already runs from $data (pid $(cat "$data/broker.pid"))" >&2; exit 1
fi
if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
  echo "port $port is already taken" >&2; exit 1
fi
[ "$keep" = 1 ] || { [ ! -d "$data" ] || [ -f "$data/server.properties" ] || [ -z "$(ls -A "$data")" ] \
  || { echo "$data is not empty and not a broker folder: not wiping it" >&2; exit 1; }; rm -rf "$data"; }
mkdir -p "$data"

cat > "$data/server.properties" <<P
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$cport
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$cport
advertised.listeners=PLAINTEXT://127.0.0.1:$port
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=$data/logs
num.partitions=1
auto.create.topics.enable=true
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=1
group.initial.rebalance.delay.ms=0
num.network.threads=2
num.io.threads=2
background.threads=2
num.recovery.threads.per.data.dir=1
log.segment.bytes=67108864
log.cleaner.dedupe.buffer.size=2097152
log.cleaner.threads=1
P
for kv in "${extra[@]:-}"; do [ -z "$kv" ] || echo "$kv" >> "$data/server.properties"; done

jvm=(-Xms"${KAFKA_HEAP:-320m}" -Xmx"${KAFKA_HEAP:-320m}" -XX:+UseSerialGC -XX:TieredStopAtLevel=1
     -Xshare:auto -Djava.awt.headless=true -Dlog4j2.disable.jmx=true
     -Dorg.slf4j.simpleLogger.defaultLogLevel=info -Dorg.slf4j.simpleLogger.showDateTime=true)
cp="$libs/*"

if [ ! -f "$data/logs/meta.properties" ]; then
  "$java" "${jvm[@]}" -Xmx128m -Xms32m -cp "$cp" kafka.tools.StorageTool format \
      -t "${KAFKA_CLUSTER_ID:-MkU3OEVBNTcwNTJENDM2Qg}" -c "$data/server.properties" \
      > "$data/format.log" 2>&1 || { cat "$data/format.log" >&2; exit 1; }
fi

rm -f "$data/broker.log" # what an earlier start said in it says nothing of this one
# shellcheck disable=SC2086
setsid "$java" "${jvm[@]}" ${KAFKA_JVM_OPTS:-} -cp "$cp" kafka.Kafka "$data/server.properties" \
    > "$data/broker.log" 2>&1 < /dev/null &
pid=$!
echo "$pid" > "$data/broker.pid"
if [ -n "$watched" ]; then
  setsid bash -c 'while kill -0 "$1" && kill -0 "$2"; do sleep 1; done; kill -0 "$2" && kill -9 "$2"' \
      watch "$watched" "$pid" > /dev/null 2>&1 < /dev/null &
fi

deadline=$((SECONDS + ${KAFKA_WAIT:-60}))
while :; do
  if grep -q 'Kafka Server started' "$data/broker.log" 2>/dev/null; then break; fi
  if ! kill -0 "$pid" 2>/dev/null; then
    echo "broker died; last lines of $data/broker.log:" >&2; tail -20 "$data/broker.log" >&2; rm -f "$data/broker.pid"; exit 1
  fi
  if [ $SECONDS -ge $deadline ]; then
    echo "broker not ready in time; see $data/broker.log" >&2; kill "$pid" 2>/dev/null || true; exit 1
  fi
  sleep 0.1
done
echo "127.0.0.1:$port"
