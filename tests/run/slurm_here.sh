#!/bin/sh
# A SLURM of one node on this machine, for tests: slurm_here.sh start FOLDER [CPUS] | stop FOLDER
# It needs root and Debian's packages slurmctld, slurmd, slurm-client and munge. Everything is kept in FOLDER.
# Afterwards, SLURM_CONF=FOLDER/slurm.conf makes sbatch, squeue and scancel speak to it.
set -eu
what=$1
folder=$2
SLURM_CONF=$folder/slurm.conf
export SLURM_CONF

stop() {
  for name in slurmd slurmctld munged; do
    if [ -s "$folder/$name.pid" ]; then kill "$(cat "$folder/$name.pid")" 2>/dev/null || true; fi
  done
}

configure() {
  host=$(hostname -s)
  cat >"$SLURM_CONF" <<END
ClusterName=here
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$1
SlurmdPort=$2
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
MinJobAge=300
ReturnToService=2
SlurmdParameters=config_overrides
KillWait=2
MaxArraySize=1001
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
NodeName=$host NodeAddr=127.0.0.1 CPUs=$3 State=UNKNOWN
PartitionName=test Nodes=$host Default=YES MaxTime=60 State=UP
END
}

start() {
  umask 022
  mkdir -p "$folder/state" "$folder/spool"
  dd if=/dev/urandom of="$folder/munge.key" bs=128 count=1 2>/dev/null
  chmod 400 "$folder/munge.key"
  munged --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" --log-file="$folder/munged.log" \
    --pid-file="$folder/munged.pid" --seed-file="$folder/munged.seed"
  configure 16817 16818 "${1:-8}"
  slurmctld -f "$SLURM_CONF" -c
  slurmd -f "$SLURM_CONF"
  for _ in $(seq 60); do
    case $(sinfo --noheader --format=%T 2>/dev/null || true) in idle*) exit 0 ;; esac
    sleep 0.5
  done
  echo "SLURM did not start; see the logs in $folder" >&2
  tail -n 5 "$folder"/*.log >&2
  exit 1
}

case $what in
start) shift 2 && start "$@" ;;
stop) stop ;;
*) echo "slurm_here.sh start FOLDER [CPUS] | stop FOLDER" >&2 && exit 2 ;;
esac
