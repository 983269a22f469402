/* SPDX-License-Identifier: GPL-2.0-or-later */
/* These lists name every field of Slurm's structures that this folder uses, as
 * X(type, field). From them come the offsets and sizes that the plugins were
 * compiled with, and that a daemon is compared with (layout.h). What a file begins
 * to use goes into its list, next to the fields of the same structure. */
#pragma once

#include "series.h"

/* These fields are in some series only. */
#if CPLSLURM_SERIES < 2302
#define FIELDS_2205(X, type, field) X(type, field)
#else
#define FIELDS_2205(X, type, field)
#endif
#if CPLSLURM_SERIES < 2405
#define FIELDS_UNTIL_2311(X, type, field) X(type, field)
#define FIELDS_FROM_2405(X, type, field)
#else
#define FIELDS_UNTIL_2311(X, type, field)
#define FIELDS_FROM_2405(X, type, field) X(type, field)
#endif
#if CPLSLURM_SERIES < 2411
#define FIELDS_FROM_2411(X, type, field)
#else
#define FIELDS_FROM_2411(X, type, field) X(type, field)
#endif
#if CPLSLURM_SERIES < 2505
#define FIELDS_FROM_2505(X, type, field)
#else
#define FIELDS_FROM_2505(X, type, field) X(type, field)
#endif
#if CPLSLURM_SERIES < 2605
#define FIELDS_FROM_2605(X, type, field)
#else
#define FIELDS_FROM_2605(X, type, field) X(type, field)
#endif

/* slurmctld has these, for select, switch and job_submit. */
#define CPLSLURM_CTLD_FIELDS(X)                                                \
	X(job_record_t, account)                                               \
	X(job_record_t, admin_comment)                                         \
	X(job_record_t, array_job_id)                                          \
	X(job_record_t, array_task_id)                                         \
	X(job_record_t, batch_flag)                                            \
	X(job_record_t, best_switch)                                           \
	X(job_record_t, bit_flags)                                             \
	X(job_record_t, details)                                               \
	X(job_record_t, gres_list_req)                                         \
	X(job_record_t, group_id)                                              \
	X(job_record_t, het_job_id)                                            \
	X(job_record_t, het_job_offset)                                        \
	X(job_record_t, job_id)                                                \
	X(job_record_t, job_resrcs)                                            \
	X(job_record_t, job_state)                                             \
	X(job_record_t, magic)                                                 \
	X(job_record_t, mcs_label)                                             \
	X(job_record_t, name)                                                  \
	X(job_record_t, node_cnt)                                              \
	X(job_record_t, part_ptr)                                              \
	X(job_record_t, partition)                                             \
	X(job_record_t, qos_ptr)                                               \
	X(job_record_t, req_switch)                                            \
	X(job_record_t, spank_job_env)                                         \
	X(job_record_t, spank_job_env_size)                                    \
	X(job_record_t, start_time)                                            \
	X(job_record_t, step_list)                                             \
	X(job_record_t, total_cpus)                                            \
	X(job_record_t, user_id)                                               \
	FIELDS_FROM_2405(X, job_record_t, switch_jobinfo)                      \
	FIELDS_FROM_2411(X, job_record_t, node_bitmap_preempt)                 \
	X(job_details_t, argc)                                                 \
	X(job_details_t, argv)                                                 \
	X(job_details_t, contiguous)                                           \
	X(job_details_t, core_spec)                                            \
	X(job_details_t, cpus_per_task)                                        \
	X(job_details_t, env_cnt)                                              \
	X(job_details_t, env_sup)                                              \
	X(job_details_t, expanding_jobid)                                      \
	X(job_details_t, magic)                                                \
	X(job_details_t, max_cpus)                                             \
	X(job_details_t, max_nodes)                                            \
	X(job_details_t, mc_ptr)                                               \
	X(job_details_t, min_cpus)                                             \
	X(job_details_t, min_gres_cpu)                                         \
	X(job_details_t, min_nodes)                                            \
	X(job_details_t, ntasks_per_node)                                      \
	X(job_details_t, ntasks_per_tres)                                      \
	X(job_details_t, num_tasks)                                            \
	X(job_details_t, overcommit)                                           \
	X(job_details_t, pn_min_cpus)                                          \
	X(job_details_t, pn_min_memory)                                        \
	X(job_details_t, req_node_bitmap)                                      \
	X(job_details_t, task_dist)                                            \
	X(job_details_t, whole_node)                                           \
	FIELDS_UNTIL_2311(X, job_details_t, plane_size)                        \
	FIELDS_FROM_2405(X, job_details_t, segment_size)                       \
	X(multi_core_data_t, ntasks_per_core)                                  \
	X(multi_core_data_t, ntasks_per_socket)                                \
	X(multi_core_data_t, threads_per_core)                                 \
	FIELDS_FROM_2405(X, multi_core_data_t, plane_size)                     \
	X(part_record_t, cr_type)                                              \
	X(part_record_t, flags)                                                \
	X(part_record_t, magic)                                                \
	X(part_record_t, max_share)                                            \
	X(part_record_t, name)                                                 \
	FIELDS_FROM_2505(X, part_record_t, topology_idx)                       \
	FIELDS_FROM_2505(X, part_record_t, topology_name)                      \
	FIELDS_2205(X, switch_record_t, level)                                 \
	FIELDS_2205(X, switch_record_t, name)                                  \
	FIELDS_2205(X, switch_record_t, nodes)                                 \
	X(node_record_t, config_ptr)                                           \
	X(node_record_t, cpus_efctv)                                           \
	X(node_record_t, magic)                                                \
	X(node_record_t, mcs_label)                                            \
	X(node_record_t, mem_spec_limit)                                       \
	X(node_record_t, name)                                                 \
	X(node_record_t, node_state)                                           \
	X(node_record_t, owner)                                                \
	X(node_record_t, real_memory)                                          \
	X(node_record_t, sched_weight)                                         \
	X(node_record_t, tot_cores)                                            \
	X(node_record_t, tot_sockets)                                          \
	X(node_record_t, tpc)                                                  \
	X(config_record_t, magic)                                              \
	X(config_record_t, weight)                                             \
	X(step_record_t, job_ptr)                                              \
	X(step_record_t, magic)                                                \
	X(step_record_t, step_id)                                              \
	X(step_record_t, step_layout)                                          \
	X(step_record_t, submit_line)                                          \
	FIELDS_2205(X, step_record_t, select_jobinfo)                          \
	FIELDS_FROM_2405(X, step_record_t, switch_step)                        \
	X(job_resources_t, core_bitmap)                                        \
	X(job_resources_t, cores_per_socket)                                   \
	X(job_resources_t, cpus)                                               \
	X(job_resources_t, memory_allocated)                                   \
	X(job_resources_t, nhosts)                                             \
	X(job_resources_t, node_bitmap)                                        \
	X(job_resources_t, sock_core_rep_count)                                \
	X(job_resources_t, sockets_per_node)                                   \
	FIELDS_FROM_2605(X, job_resources_t, node_ranks)                       \
	X(slurm_step_layout_t, node_cnt)                                       \
	X(slurm_step_layout_t, node_list)                                      \
	X(slurm_step_layout_t, task_cnt)                                       \
	X(slurm_step_layout_t, task_dist)                                      \
	X(slurm_step_layout_t, tasks)                                          \
	X(slurm_step_layout_t, tids)                                           \
	X(slurmdb_qos_rec_t, name)                                             \
	X(job_desc_msg_t, account)                                             \
	X(job_desc_msg_t, admin_comment)                                       \
	X(job_desc_msg_t, argc)                                                \
	X(job_desc_msg_t, argv)                                                \
	X(job_desc_msg_t, env_size)                                            \
	X(job_desc_msg_t, environment)                                         \
	X(job_desc_msg_t, group_id)                                            \
	X(job_desc_msg_t, max_nodes)                                           \
	X(job_desc_msg_t, min_cpus)                                            \
	X(job_desc_msg_t, min_nodes)                                           \
	X(job_desc_msg_t, name)                                                \
	X(job_desc_msg_t, ntasks_per_node)                                     \
	X(job_desc_msg_t, ntasks_per_tres)                                     \
	X(job_desc_msg_t, num_tasks)                                           \
	X(job_desc_msg_t, overcommit)                                          \
	X(job_desc_msg_t, partition)                                           \
	X(job_desc_msg_t, plane_size)                                          \
	X(job_desc_msg_t, qos)                                                 \
	X(job_desc_msg_t, script)                                              \
	X(job_desc_msg_t, spank_job_env)                                       \
	X(job_desc_msg_t, spank_job_env_size)                                  \
	X(job_desc_msg_t, task_dist)                                           \
	X(job_desc_msg_t, user_id)                                             \
	CPLSLURM_BOTH_FIELDS(X)                                                \
	CPLSLURM_RESERVATION_FIELDS(X)

/* slurmctld, slurmd and slurmstepd have these. */
#define CPLSLURM_BOTH_FIELDS(X)                                                \
	X(dynamic_plugin_data_t, data)                                         \
	X(slurm_step_id_t, job_id)                                             \
	X(slurm_step_id_t, step_het_comp)                                      \
	X(slurm_step_id_t, step_id)                                            \
	X(slurm_conf_t, cluster_name)                                          \
	X(slurm_conf_t, conf_flags)                                            \
	X(slurm_conf_t, debug_flags)                                           \
	X(slurm_conf_t, job_submit_plugins)                                    \
	X(slurm_conf_t, plugindir)                                             \
	X(slurm_conf_t, private_data)                                          \
	X(slurm_conf_t, select_type)                                           \
	X(slurm_conf_t, select_type_param)                                     \
	X(slurm_conf_t, slurm_conf)                                            \
	X(slurm_conf_t, switch_param)                                          \
	X(slurm_conf_t, switch_type)                                           \
	X(slurm_conf_t, task_plugin)

#if CPLSLURM_SERIES < 2302
#define CPLSLURM_RESERVATION_FIELDS(X) X(slurmctld_config_t, shutdown_time)
#elif CPLSLURM_SERIES < 2505
#define CPLSLURM_RESERVATION_FIELDS(X)                                         \
	X(slurmctld_config_t, shutdown_time)                                   \
	X(resv_exc_t, exc_cores)
#else
#define CPLSLURM_RESERVATION_FIELDS(X) X(resv_exc_t, exc_cores)
#endif

/* slurmd and slurmstepd have these. */
#define CPLSLURM_NODE_FIELDS(X)                                                \
	CPLSLURM_BOTH_FIELDS(X)                                                \
	X(launch_tasks_request_msg_t, accel_bind_type)                         \
	X(launch_tasks_request_msg_t, cpu_bind)                                \
	X(launch_tasks_request_msg_t, cpu_bind_type)                           \
	X(launch_tasks_request_msg_t, cpus_per_task)                           \
	X(launch_tasks_request_msg_t, cred)                                    \
	X(launch_tasks_request_msg_t, env)                                     \
	X(launch_tasks_request_msg_t, envc)                                    \
	X(launch_tasks_request_msg_t, flags)                                   \
	X(launch_tasks_request_msg_t, gids)                                    \
	X(launch_tasks_request_msg_t, global_task_ids)                         \
	X(launch_tasks_request_msg_t, het_job_id)                              \
	X(launch_tasks_request_msg_t, het_job_ntasks)                          \
	X(launch_tasks_request_msg_t, het_job_task_offset)                     \
	X(launch_tasks_request_msg_t, job_core_spec)                           \
	X(launch_tasks_request_msg_t, mem_bind_type)                           \
	X(launch_tasks_request_msg_t, ngids)                                   \
	X(launch_tasks_request_msg_t, nnodes)                                  \
	X(launch_tasks_request_msg_t, ntasks)                                  \
	X(launch_tasks_request_msg_t, ntasks_per_core)                         \
	X(launch_tasks_request_msg_t, ntasks_per_socket)                       \
	X(launch_tasks_request_msg_t, options)                                 \
	X(launch_tasks_request_msg_t, spank_job_env)                           \
	X(launch_tasks_request_msg_t, spank_job_env_size)                      \
	X(launch_tasks_request_msg_t, step_id)                                 \
	X(launch_tasks_request_msg_t, tasks_to_launch)                         \
	X(launch_tasks_request_msg_t, threads_per_core)                        \
	X(launch_tasks_request_msg_t, tres_bind)                               \
	FIELDS_2205(X, launch_tasks_request_msg_t, gid)                        \
	FIELDS_2205(X, launch_tasks_request_msg_t, select_jobinfo)             \
	FIELDS_2205(X, launch_tasks_request_msg_t, uid)                        \
	X(batch_job_launch_msg_t, envc)                                        \
	X(batch_job_launch_msg_t, environment)                                 \
	X(slurmd_conf_t, block_map)                                            \
	X(slurmd_conf_t, block_map_size)                                       \
	X(slurmd_conf_t, cores)                                                \
	X(slurmd_conf_t, cpus)                                                 \
	X(slurmd_conf_t, node_name)                                            \
	X(slurmd_conf_t, sockets)                                              \
	X(slurmd_conf_t, spooldir)                                             \
	X(slurmd_conf_t, threads)                                              \
	CPLSLURM_CREDENTIAL_FIELDS(X)

/* In 22.05 daemonize is a bit, which has no offset. */
#if CPLSLURM_SERIES < 2302
#define CPLSLURM_CREDENTIAL_FIELDS(X)
#else
#define CPLSLURM_CREDENTIAL_FIELDS(X)                                          \
	X(slurmd_conf_t, actual_threads)                                       \
	X(slurmd_conf_t, daemonize)                                            \
	X(slurm_cred_arg_t, gid)                                               \
	X(slurm_cred_arg_t, uid)                                               \
	FIELDS_FROM_2405(X, slurm_cred_arg_t, switch_step)
#endif

/* slurmstepd has these. */
#define CPLSLURM_STEPD_FIELDS(X)                                               \
	X(stepd_step_rec_t, batch)                                             \
	X(stepd_step_rec_t, cpu_bind)                                          \
	X(stepd_step_rec_t, cpu_bind_type)                                     \
	X(stepd_step_rec_t, env)                                               \
	X(stepd_step_rec_t, envtp)                                             \
	X(stepd_step_rec_t, mem_bind_type)                                     \
	X(stepd_step_rec_t, msg)                                               \
	X(stepd_step_rec_t, node_tasks)                                        \
	X(stepd_step_rec_t, nodeid)                                            \
	X(stepd_step_rec_t, step_id)                                           \
	X(stepd_step_rec_t, task)                                              \
	FIELDS_FROM_2405(X, stepd_step_rec_t, switch_step)                     \
	X(stepd_step_task_info_t, gtid)                                        \
	X(stepd_step_task_info_t, id)                                          \
	X(stepd_step_task_info_t, pid)                                         \
	X(env_t, localid)                                                      \
	X(job_option_info_t, optarg)                                           \
	X(job_option_info_t, option)                                           \
	X(gres_state_t, gres_data)                                             \
	X(gres_state_t, plugin_id)                                             \
	X(gres_step_state_t, gres_bit_alloc)                                   \
	X(gres_step_state_t, gres_cnt_node_alloc)                              \
	X(gres_step_state_t, node_cnt)
