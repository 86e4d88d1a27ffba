# Part of scripts/try_release: runs in a bare root, where the release is in /release and this project in /source.
cd /try
(cd /release && sha256sum --check --quiet SHA256SUMS)
tar xzf /release/capgate-[0-9]*-linux-x86_64.tar.gz
mv capgate-[0-9]* capgate
. /source/packaging/try/commands.sh
try_commands /try/capgate/bin/capgate
test -s capgate/THIRD_PARTY.txt && test -s capgate/CHANGELOG.md && test -s capgate/README.txt
